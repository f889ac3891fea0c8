package main

import (
	"math"
	"slices"
	"testing"
)

// Published values: 0 of n has the closed form 1-(alpha/2)^(1/n); 10 of 100 is (0.0490, 0.1762), as R's binom.test.
func TestClopperPearson(t *testing.T) {
	for _, c := range []struct{ k, n, confidence, low, high float64 }{
		{0, 100, 0.95, 0, 1 - math.Pow(0.025, 0.01)},
		{100, 100, 0.95, math.Pow(0.025, 0.01), 1},
		{10, 100, 0.95, 0.04900469, 0.17622260},
		{1, 20, 0.95, 0.00126509, 0.24873276},
		{1, 1, 0.9, 0.05, 1},
	} {
		low, high := clopperPearson(c.k, c.n, c.confidence)
		if math.Abs(low-c.low) > 1e-7 || math.Abs(high-c.high) > 1e-7 {
			t.Errorf("%v of %v: %.8f to %.8f, want %.8f to %.8f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

// The last two are sums of the binomial distribution, to which the function is equal for whole a and b.
func TestBetaCDF(t *testing.T) {
	for _, c := range []struct{ x, a, b, want float64 }{
		{0.3, 1, 1, 0.3}, {0.25, 2, 1, 0.0625}, {0.25, 1, 2, 0.4375}, {0.5, 500.5, 500.5, 0.5}, {0.026, 500, 19500, 0.81822165462}, {0.02, 500, 19500, 6.2058069e-07},
	} {
		if got := betaCDF(c.x, c.a, c.b); math.Abs(got-c.want) > 1e-10 {
			t.Errorf("I(%v; %v, %v) = %v, want %v", c.x, c.a, c.b, got, c.want)
		}
	}
}

// At 12 Mbit/s, 1500 bytes take 1 ms.
func TestIdeal(t *testing.T) {
	plan := []planned{{size: 1500}, {size: 750}, {size: 1500}}
	sent := []int64{5e6, 5.2e6, 9e6}
	want := []float64{11e6, 11.3e6, 11e6}
	for i, got := range idealNs(plan, sent, 12, 10) {
		if math.Abs(got-want[i]) > 1 {
			t.Errorf("packet %d: %v, want %v", i, got, want[i])
		}
	}
	if got := idealNs(plan, sent, 0, 10); !slices.Equal(got, []float64{10e6, 10e6, 10e6}) {
		t.Errorf("unlimited: %v", got)
	}
}

func TestDelay(t *testing.T) {
	s := sample{plan: make([]planned, 0), receivedNs: []int64{}}
	for i := range int64(100) {
		s.plan = append(s.plan, planned{size: 64, probe: i > 0})
		s.sentNs = append(s.sentNs, 1e9+i*1e6)
		s.receivedNs = append(s.receivedNs, 1e9+i*1e6+10e6+i*1000)
	}
	s.receivedNs[50] = 0
	got := s.delay(0, 10)
	if got.N != 98 || got.Received != 99 || math.Abs(got.ErrorMs.Median-0.049) > 1e-9 || math.Abs(got.ErrorMs.Max-0.099) > 1e-9 {
		t.Errorf("got %+v", got)
	}
}

// 1250 bytes each millisecond are 10 Mbit/s, whatever the sender offered.
func TestRate(t *testing.T) {
	var s sample
	for i := range int64(1000) {
		s.plan = append(s.plan, planned{size: 1250, probe: true})
		s.sentNs = append(s.sentNs, 1e9+i*5e5)
		received := 1e9 + i*1e6
		if i >= 500 {
			received = 0
		}
		s.receivedNs = append(s.receivedNs, received)
	}
	got := s.rate(200e6)
	if math.Abs(got.RateMbps-10) > 1e-9 || math.Abs(got.OfferedMbps-20) > 0.1 || got.RatePackets != 299 {
		t.Errorf("got %+v", got)
	}
}

func TestLoss(t *testing.T) {
	s := sample{plan: make([]planned, 10), receivedNs: []int64{0, 1, 0, 0, 0, 1, 1, 1, 1, 0}}
	got := s.loss(0.95, 10, 1)
	if got.Lost != 5 || got.Bursts != 3 || math.Abs(got.MeanBurstLength-5.0/3) > 1e-12 || got.LossRatio != 0.5 {
		t.Errorf("got %+v", got)
	}
	if got.FamilyInterval.Low >= got.Interval.Low || got.FamilyInterval.High <= got.Interval.High {
		t.Error("the interval of a family is not the wider one")
	}
	wider := s.loss(0.95, 1, 4).Interval
	if wider.Low >= got.Interval.Low || wider.High <= got.Interval.High {
		t.Error("dispersion does not widen the interval")
	}
}

func TestPlans(t *testing.T) {
	if got := gapNs(1500, 12); got != 1e6 {
		t.Errorf("gap %v", got)
	}
	probes := poisson(10_000, 1e6, 64, 1)
	if mean := float64(probes[len(probes)-1].dueNs) / 10_000; mean < 0.95e6 || mean > 1.05e6 {
		t.Errorf("mean gap %v", mean)
	}
	all := merge(evenly(100, 3e6, 1500, false), probes)
	if len(all) != 10_100 || !slices.IsSortedFunc(all, func(a, b planned) int { return int(a.dueNs - b.dueNs) }) {
		t.Error("the plan is out of order")
	}
}
