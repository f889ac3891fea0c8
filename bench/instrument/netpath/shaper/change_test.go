package shaper

import (
	"slices"
	"testing"
)

// What is at the bottleneck goes on at the new rate; what has left it keeps its time.
func TestRateChange(t *testing.T) {
	const slow, fast = 12e6, 24e6 // 1500 bytes in 1 ms, in 0.5 ms
	cases := map[string]struct {
		rateBps float64
		want    []int64
	}{
		"faster":    {fast, []int64{11 * ms, 12*ms - ms/4, 12*ms + ms/4}},
		"slower":    {slow / 2, []int64{11 * ms, 12*ms + ms/2, 14*ms + ms/2}},
		"unlimited": {0, []int64{11 * ms, 11*ms + ms/2, 11*ms + ms/2}},
		"the same":  {slow, []int64{11 * ms, 12 * ms, 13 * ms}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := New(16)
			settings := Settings{RateMbps: slow / 1e6, DelayMs: 10, QueueBytes: 1_500_000}
			s.Configure(0, settings, 1, 0)
			for i := range int32(3) {
				s.Arrive(0, 1500, i)
			}
			settings.RateMbps = c.rateBps / 1e6
			s.Change(ms+ms/2, settings) // the second is half sent
			if got := drain(s); !slices.Equal(got, c.want) {
				t.Errorf("releases %v, want %v", got, c.want)
			}
		})
	}
}

func TestTwoRateChangesWithinOnePacket(t *testing.T) {
	s := New(16)
	s.Configure(0, Settings{RateMbps: 12}, 1, 0)
	s.Arrive(0, 1500, 0)
	s.Change(ms/2, Settings{RateMbps: 6})   // half is left: 1 ms
	s.Change(ms, Settings{RateMbps: 12})    // a quarter is left: 0.25 ms
	if got := drain(s); got[0] != ms+ms/4 { // 0.5 + 0.5 + 0.25 ms
		t.Errorf("left at %d", got[0])
	}
}

func TestQueuedBytesAfterAChange(t *testing.T) {
	s := New(16)
	settings := Settings{RateMbps: 12, QueueBytes: 9000}
	s.Configure(0, settings, 1, 0)
	for i := range int32(4) {
		s.Arrive(0, 1500, i)
	}
	settings.RateMbps = 120
	s.Change(ms/2, settings) // 0.05 ms of the first is left, then 0.1 ms each
	for _, c := range []struct{ atNs, want int64 }{{ms / 2, 4500}, {ms/2 + ms/20, 3000}, {ms, 0}} {
		if got := s.WaitingBytes(c.atNs); got != c.want {
			t.Errorf("at %d: %d bytes wait, want %d", c.atNs, got, c.want)
		}
	}
}

// A shorter delay does not let later packets overtake.
func TestDelayChange(t *testing.T) {
	s := New(16)
	s.Configure(0, Settings{DelayMs: 50}, 1, 0)
	s.Arrive(0, 40, 0)
	s.Change(ms, Settings{DelayMs: 10})
	s.Arrive(ms, 40, 1)
	s.Arrive(60*ms, 40, 2)
	if got, want := drain(s), []int64{50 * ms, 50 * ms, 70 * ms}; !slices.Equal(got, want) {
		t.Errorf("releases %v, want %v", got, want)
	}
}
