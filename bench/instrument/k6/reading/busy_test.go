package reading

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"
)

func TestBusiest(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	// Core 0 works in the first half second only, core 1 in the second.
	samples := []sample{
		{at(0), []core{{0, 0}, {0, 0}}},
		{at(250), []core{{25, 25}, {0, 25}}},
		{at(500), []core{{50, 50}, {5, 50}}},
		{at(750), []core{{50, 75}, {20, 75}}},
		{at(1000), []core{{50, 100}, {40, 100}}},
	}
	for _, test := range []struct {
		name     string
		from, to int
		want     float64 // NaN: too short
	}{
		{"exactly an interval", 0, 250, 1},
		{"a window is widened at both ends", 260, 490, 1},
		{"the average over several intervals, of the busiest core", 0, 1000, 0.5},
		{"a short window reaches back to an interval", 740, 750, 0.6},
		{"a window in the second half", 500, 1000, 0.7},
		{"a window before the first sample", -10, 250, math.NaN()},
		{"a window that ends after the last sample", 0, 1001, math.NaN()},
		{"less than an interval after the start", 0, 200, math.NaN()},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := busiest(samples, at(test.from), at(test.to))
			if math.IsNaN(test.want) {
				if !errors.Is(err, errTooShort) {
					t.Errorf("got %v, %v", got, err)
				}
			} else if err != nil || math.Abs(got-test.want) > 1e-9 {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestParseCores(t *testing.T) {
	text := "cpu  30 0 10 60 10 0 0 10 0 0\ncpu0 10 1 2 60 5 3 4 15 0 0\ncpu1 0 0 0 90 10 0 0 0 0 0\nintr 5\nctxt 9\n"
	got, err := parseCores(text)
	if want := []core{{35, 100}, {0, 100}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, text := range []string{"", "cpu 1 2 3 4 5 6 7 8\n", "cpu0 1 2 x 4 5 6 7 8\n"} {
		if got, err := parseCores(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestBusyReadsThisMachine(t *testing.T) {
	from := time.Now()
	busy, err := StartBusy()
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Stop()
	if ratio, err := busy.Ratio(from); !errors.Is(err, errTooShort) {
		t.Errorf("at once: %v, %v", ratio, err)
	}
	if err := busy.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if ratio, err := busy.Ratio(time.Now()); err != nil || ratio < 0 || ratio > 1 {
		t.Errorf("after an interval: %v, %v", ratio, err)
	}
}
