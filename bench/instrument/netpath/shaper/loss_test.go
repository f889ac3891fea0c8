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
		if s.Polices() {
			dropped++
		}
	}
	if ratio := float64(dropped) / 100_000; math.Abs(ratio-0.08) > 0.004 {
		t.Errorf("%v of UDP dropped, want 0.08", ratio)
	}
	if configured(Settings{}, 1, 0).Polices() {
		t.Error("dropped where nothing polices")
	}
}
