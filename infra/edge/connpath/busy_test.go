package connpath

import (
	"sync"
	"testing"
	"time"
)

// A request's moments are in milliseconds; an end of -1 has not come yet.
func TestBusy(t *testing.T) {
	type request struct{ begins, ends int }
	for _, tc := range []struct {
		name     string
		requests []request
		readAt   int
		want     int
	}{
		{"no request", nil, 1000, 0},
		{"one", []request{{100, 350}}, 350, 250},
		{"rest does not count", []request{{100, 350}}, 9000, 250},
		{"one after another", []request{{100, 350}, {500, 600}}, 1000, 350},
		{"at once", []request{{100, 300}, {100, 300}}, 1000, 200},
		{"overlapping", []request{{100, 300}, {200, 450}}, 1000, 350},
		{"one within another", []request{{100, 500}, {200, 300}}, 1000, 400},
		{"end to end", []request{{100, 300}, {300, 400}}, 1000, 300},
		{"three in a chain", []request{{0, 200}, {100, 300}, {250, 400}, {900, 950}}, 1000, 450},
		{"under way", []request{{100, -1}}, 400, 300},
		{"under way, after one that ended", []request{{100, 200}, {300, -1}}, 450, 250},
		{"under way, beside one that ended", []request{{100, 200}, {150, -1}}, 450, 350},
		{"read at a moment before it began", []request{{100, 200}, {300, -1}}, 250, 100},
	} {
		var b busy
		at := func(ms int) time.Time { return time.UnixMilli(0).Add(time.Duration(ms) * time.Millisecond) }
		for ms := range 10_000 {
			// What begins at the moment when another one ends comes before it or after it, in no order that anybody knows.
			for _, r := range tc.requests {
				if r.ends == ms {
					b.end(at(ms))
				}
			}
			for _, r := range tc.requests {
				if r.begins == ms {
					b.begin(at(ms))
				}
			}
		}
		if got := b.until(at(tc.readAt)).Milliseconds(); got != int64(tc.want) {
			t.Errorf("%s: %d ms, want %d", tc.name, got, tc.want)
		}
	}
}

// A response is under way until its client has it. Over TCP the kernel's clock says for how long, over QUIC it is a round trip. A request that
// comes sooner counts for itself.
func TestBusyUntilItIsThere(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(0).Add(time.Duration(ms) * time.Millisecond) }
	for name, tail := range map[string]func(now *int) busy{
		"TCP": func(now *int) busy {
			// From 100 ms on it has something to send, for 500 ms after the response was handed over at 150 ms; and again from 1,000 to 1,050 ms.
			return busy{sending: func() time.Duration {
				return time.Duration(min(max(*now-100, 0), 550)+min(max(*now-1_000, 0), 50)) * time.Millisecond
			}}
		},
		"QUIC": func(*int) busy { return busy{rtt: func() time.Duration { return 500 * time.Millisecond }} },
	} {
		var now int
		b := tail(&now)
		step := func(ms int, do func(time.Time)) { now = ms; do(at(ms)) }
		wants := func(ms, want int) {
			t.Helper()
			now = ms
			if got := b.until(at(ms)).Milliseconds(); got != int64(want) {
				t.Errorf("%s at %d ms: %d ms, want %d", name, ms, got, want)
			}
		}
		wants(90, 0)
		step(100, b.begin)
		step(150, b.end)
		wants(150, 50)
		wants(400, 300)
		wants(650, 550)
		wants(900, 550)
		step(1_000, b.begin)
		wants(1_010, 560)
		step(1_020, b.end)
		wants(1_030, 580)
		step(1_040, b.begin)
		step(1_045, b.end)
		wants(1_046, 596)
		b.restart(at(1_048))
		wants(2_000, 0)
	}
}

// It never falls from one reading to the next, as a counter must not.
func TestBusyGrows(t *testing.T) {
	var b busy
	now := time.UnixMilli(0)
	last := time.Duration(0)
	for i := range 200 {
		now = now.Add(time.Millisecond)
		switch i % 5 {
		case 0, 1:
			b.begin(now)
		case 3, 4:
			b.end(now)
		}
		got := b.until(now)
		if got < last || got > now.Sub(time.UnixMilli(0)) {
			t.Fatalf("%v after %v", got, last)
		}
		last = got
	}
	if last != 160*time.Millisecond {
		t.Errorf("%v", last)
	}
}

// A response that is under way counts from the restart on.
func TestBusyRestarts(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(0).Add(time.Duration(ms) * time.Millisecond) }
	var b busy
	b.begin(at(100))
	b.restart(at(300))
	if got := b.until(at(350)); got != 50*time.Millisecond {
		t.Errorf("%v while it is under way", got)
	}
	b.end(at(400))
	b.restart(at(500))
	if got := b.until(at(600)); got != 0 {
		t.Errorf("%v at rest", got)
	}
	if since := b.restsSince(at(600)); !since.Equal(at(400)) {
		t.Errorf("rests since %v", since)
	}
}

// Many streams of one connection begin and end at once, and are read. No moment counts twice, whoever reads the clock first.
func TestBusyOfManyGoroutines(t *testing.T) {
	var b busy
	began := time.Now()
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 1000 {
				b.begin(time.Now())
				_ = b.until(time.Now())
				b.end(time.Now())
			}
		})
	}
	running.Wait()
	lasted := time.Since(began)
	if got := b.until(time.Now()); b.under != 0 || got <= 0 || got > lasted {
		t.Errorf("%v of %v, %d under way", got, lasted, b.under)
	}
}
