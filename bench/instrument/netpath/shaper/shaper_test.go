package shaper

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const ms = 1_000_000

// arrival and its verdict; a release of -1 is a packet that never leaves.
type arrival struct {
	atNs      int64
	size      int
	verdict   Verdict
	releaseNs int64
}

func TestKnownAnswers(t *testing.T) {
	// 12 Mbit/s: 1500 bytes take 1 ms.
	const rate = 12e6
	cases := map[string]struct {
		settings Settings
		arrivals []arrival
	}{
		"a free wire": {Settings{}, []arrival{{5, 1500, Accepted, 5}, {5, 40, Accepted, 5}}},
		"delay alone": {Settings{DelayMs: 7}, []arrival{{0, 1500, Accepted, 7 * ms}, {1, 1500, Accepted, 7*ms + 1}}},
		"an idle bottleneck": {
			Settings{RateMbps: rate / 1e6, QueueBytes: 9000},
			[]arrival{{0, 1500, Accepted, ms}, {3 * ms, 750, Accepted, 3*ms + ms/2}},
		},
		"a burst is spread": {
			Settings{RateMbps: rate / 1e6, DelayMs: 10, QueueBytes: 9000},
			[]arrival{{0, 1500, Accepted, 11 * ms}, {0, 1500, Accepted, 12 * ms}, {0, 3000, Accepted, 14 * ms}},
		},
		"the queue counts what waits and not what is being sent": {
			Settings{RateMbps: rate / 1e6, QueueBytes: 3000},
			[]arrival{
				{0, 1500, Accepted, ms},
				{0, 1500, Accepted, 2 * ms},
				{0, 1500, Accepted, 3 * ms},
				{0, 1, DroppedQueue, -1},
				{ms - 1, 1500, DroppedQueue, -1},
				{ms, 1500, Accepted, 4 * ms}, // the second is being sent since ms
			},
		},
		"the queue does not count what propagates": {
			Settings{RateMbps: rate / 1e6, DelayMs: 1000, QueueBytes: 1500},
			[]arrival{
				{0, 1500, Accepted, 1001 * ms},
				{ms, 1500, Accepted, 1002 * ms},
				{ms, 1500, Accepted, 1003 * ms},
				{ms, 1500, DroppedQueue, -1},
			},
		},
		"no queue at all": {
			Settings{RateMbps: rate / 1e6},
			[]arrival{{0, 1500, Accepted, ms}, {ms - 1, 40, DroppedQueue, -1}, {ms, 1500, Accepted, 2 * ms}},
		},
		"fractions of a nanosecond add up": {
			Settings{RateMbps: 2400, QueueBytes: 9000}, // 1 byte takes 3.33 ns
			[]arrival{{0, 1, Accepted, 4}, {0, 1, Accepted, 7}, {0, 1, Accepted, 10}},
		},
		"everything is lost, and takes its time": {
			Settings{RateMbps: rate / 1e6, QueueBytes: 1500, LossRatio: 1},
			[]arrival{{0, 1500, DroppedLoss, -1}, {0, 1500, DroppedLoss, -1}, {0, 1500, DroppedQueue, -1}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := New(16)
			s.Configure(0, c.settings, 1, 0)
			want := []int64{}
			for i, a := range c.arrivals {
				if got := s.Arrive(a.atNs, a.size, int32(i)); got != a.verdict {
					t.Errorf("packet %d: verdict %d, want %d", i, got, a.verdict)
				}
				if a.releaseNs >= 0 {
					want = append(want, a.releaseNs)
				}
			}
			if got := drain(s); !slices.Equal(got, want) {
				t.Errorf("releases %v, want %v", got, want)
			}
			if got := s.WaitingBytes(1 << 60); got != 0 {
				t.Errorf("%d bytes wait in an empty queue", got)
			}
		})
	}
}

func TestNothingLeavesEarly(t *testing.T) {
	s := New(16)
	s.Configure(0, Settings{DelayMs: 1e-4}, 1, 0)
	s.Arrive(0, 40, 7)
	if _, _, ok := s.Pop(99); ok {
		t.Error("left at 99, due at 100")
	}
	if slot, at, ok := s.Pop(100); !ok || slot != 7 || at != 100 {
		t.Errorf("got slot %d at %d (%v)", slot, at, ok)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	s := New(2)
	s.Configure(0, Settings{DelayMs: 1e-4}, 1, 0)
	for i, want := range []Verdict{Accepted, Accepted, DroppedFull} {
		if got := s.Arrive(0, 40, int32(i)); got != want {
			t.Errorf("packet %d: %d, want %d", i, got, want)
		}
	}
}

// Whatever arrives when and however the settings change: order is kept, no packet leaves before its delay less its
// jitter, none is lost from the count, and the queue's account ends at 0.
func TestOrderIsKept(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := New(1 << 10)
		randomSettings := func() Settings {
			return Settings{
				RateMbps: float64(r.IntN(3)) * 5, DelayMs: 10, JitterMs: 10 * r.Float64(),
				LossRatio: 0.1 * float64(r.IntN(2)), QueueBytes: int64(r.IntN(20_000)),
			}
		}
		s.Configure(0, randomSettings(), seed, 0)
		arrivedNs := map[int32]int64{}
		last, lastAt, now := int32(-1), int64(0), int64(0)
		take := func() {
			for slot, at, ok := s.Pop(now); ok; slot, at, ok = s.Pop(now) {
				if slot <= last || at < lastAt || at > now || at < arrivedNs[slot] {
					t.Fatalf("seed %d: packet %d at %d after %d at %d, now %d", seed, slot, at, last, lastAt, now)
				}
				delete(arrivedNs, slot)
				last, lastAt = slot, at
			}
		}
		for i := range int32(400) {
			now += int64(r.ExpFloat64() * ms / 2)
			if r.IntN(20) == 0 {
				s.Change(now, randomSettings())
			}
			if s.Arrive(now, 40+r.IntN(1460), i) == Accepted {
				arrivedNs[i] = now
			}
			take()
		}
		now = 1 << 60
		take()
		if len(arrivedNs) != 0 || s.WaitingBytes(now) != 0 || s.head != s.tail {
			t.Fatalf("seed %d: %d packets and %d bytes left over", seed, len(arrivedNs), s.WaitingBytes(now))
		}
	}
}

// A sender that is always ahead of the bottleneck gets its rate exactly.
func TestRateOfASaturatedBottleneck(t *testing.T) {
	const packets, size, rate = 10_000, 1237, 600e6
	s := New(1 << 14)
	s.Configure(0, Settings{RateMbps: rate / 1e6, QueueBytes: 1 << 30}, 1, 0)
	for i := range int32(packets) {
		s.Arrive(int64(i)*1000, size, i)
	}
	releases := drain(s)
	const want = packets * size * 8 * 1_000_000_000 / 600_000_000
	if got := releases[len(releases)-1]; got < want || got > want+1 {
		t.Errorf("the last left at %d ns, want %d", got, want)
	}
}

func TestJitterIsUniformWhenPacketsAreFarApart(t *testing.T) {
	s := New(1 << 14)
	s.Configure(0, Settings{DelayMs: 10, JitterMs: 2}, 1, 0)
	var sum, low, high int64 = 0, 1 << 60, 0
	for i := range int64(10_000) {
		s.Arrive(i*100*ms, 40, 0)
		_, at, _ := s.Pop(i*100*ms + 50*ms)
		delay := at - i*100*ms
		sum, low, high = sum+delay, min(low, delay), max(high, delay)
	}
	if mean := sum / 10_000; mean < 9.95*ms || mean > 10.05*ms || low < 8*ms || low > 8.01*ms || high > 12*ms || high < 11.99*ms {
		t.Errorf("mean %d, from %d to %d", mean, low, high)
	}
}

func drain(s *Shaper) []int64 {
	releases := []int64{}
	for _, at, ok := s.Pop(1 << 60); ok; _, at, ok = s.Pop(1 << 60) {
		releases = append(releases, at)
	}
	return releases
}
