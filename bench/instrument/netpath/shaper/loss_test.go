package shaper

import (
	"math"
	"slices"
	"testing"
)

func verdicts(s *Shaper, n int) []Verdict {
	all := make([]Verdict, n)
	for i := range all {
		now := int64(i) * ms
		all[i] = s.Arrive(now, 1500, 0)
		s.Pop(now)
	}
	return all
}

func configured(settings Settings, seed uint64, direction int) *Shaper {
	s := New(64)
	s.Configure(0, settings, seed, direction)
	return s
}

func TestIndependentLoss(t *testing.T) {
	const n, p = 200_000, 0.025
	lost := n - count(verdicts(configured(Settings{LossRatio: p}, 1, 0), n), Accepted)
	if sigma := math.Sqrt(n * p * (1 - p)); math.Abs(float64(lost)-n*p) > 4*sigma {
		t.Errorf("%d lost of %d", lost, n)
	}
}

func TestSeeds(t *testing.T) {
	settings := Settings{LossRatio: 0.1}
	first := verdicts(configured(settings, 7, 0), 2000)
	if !slices.Equal(first, verdicts(configured(settings, 7, 0), 2000)) {
		t.Error("the same seed gave other drops")
	}
	if slices.Equal(first, verdicts(configured(settings, 8, 0), 2000)) {
		t.Error("another seed gave the same drops")
	}
	if slices.Equal(first, verdicts(configured(settings, 7, 1), 2000)) {
		t.Error("both directions drop the same packets")
	}
	s := configured(settings, 3, 0)
	verdicts(s, 100)
	s.Configure(200*ms, settings, 7, 0)
	if !slices.Equal(first, verdicts(s, 2000)) {
		t.Error("configuring again did not restart the sequence")
	}
}

// What is lost depends on a packet's place among those that reach the wire, and on nothing else.
func TestDropsDoNotDependOnRateDelayOrJitter(t *testing.T) {
	plain := verdicts(configured(Settings{LossRatio: 0.1}, 7, 0), 2000)
	other := Settings{LossRatio: 0.1, RateMbps: 100, QueueBytes: 9000, DelayMs: 9, JitterMs: 8}
	if !slices.Equal(plain, verdicts(configured(other, 7, 0), 2000)) {
		t.Error("they do")
	}
}

func count(all []Verdict, verdict Verdict) int {
	n := 0
	for _, v := range all {
		if v == verdict {
			n++
		}
	}
	return n
}

func TestPolices(t *testing.T) {
	s := configured(Settings{UDPLossRatio: 0.08}, 1, 0)
	dropped := 0
	for range 100_000 {
		if s.Polices(0, 1500) {
			dropped++
		}
	}
	if ratio := float64(dropped) / 100_000; math.Abs(ratio-0.08) > 0.004 {
		t.Errorf("%v of UDP dropped, want 0.08", ratio)
	}
	if configured(Settings{}, 1, 0).Polices(0, 1500) {
		t.Error("dropped where nothing polices")
	}
}

// A bucket of 3,000 bytes that fills by 1,500 in a millisecond.
func TestTokenBucket(t *testing.T) {
	s := configured(Settings{UDPRateMbps: 12, UDPBurstBytes: 3000}, 1, 0)
	for i, c := range []struct {
		atNs    int64
		size    int
		dropped bool
	}{
		{0, 1500, false},
		{0, 1500, false},
		{0, 1, true},
		{ms / 2, 751, true}, // what is dropped takes nothing
		{ms / 2, 750, false},
		{100 * ms, 3000, false}, // full, and no fuller than that
		{100 * ms, 1, true},
		{99 * ms, 1, true}, // a clock that runs backwards fills nothing
		{101 * ms, 1500, false},
	} {
		if got := s.Polices(c.atNs, c.size); got != c.dropped {
			t.Errorf("packet %d: dropped %v, want %v", i, got, c.dropped)
		}
	}
	s.Configure(101*ms, Settings{UDPRateMbps: 12, UDPBurstBytes: 3000}, 1, 0)
	if s.Polices(101*ms, 3000) {
		t.Error("a path that is set anew has no full bucket")
	}
}

func TestLargestPacketOfUDP(t *testing.T) {
	s := configured(Settings{UDPMaxBytes: 1280}, 1, 0)
	if s.Polices(0, 1280) || !s.Polices(0, 1281) {
		t.Error("packets of up to 1280 bytes should pass, and no others")
	}
}
