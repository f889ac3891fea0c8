package pathsample

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/visitor"
	"adaptive-h3/infra/edge/internal/visitor/visitortest"
)

func TestSamplerRule(t *testing.T) {
	start := time.UnixMilli(1_000_000)
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	cases := []struct {
		name    string
		sends   []float64 // when, in seconds since the connection began
		sampled []float64 // with a scan every half second, for 20 s
	}{
		{"nothing sent", nil, nil},
		{"once, then rest", []float64{0}, []float64{5}},
		{"late, then rest", []float64{8}, []float64{8}},
		{"twice", []float64{0, 7}, []float64{5, 10}},
		{"all the time", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, []float64{5, 10, 15, 20}},
	}
	for _, tc := range cases {
		c := visitortest.Connection("a", measure.TCP, "192.0.2.7:1", visitortest.ReadingTCP, true)
		c.SampledAt = start
		reg := visitor.NewRegistry()
		reg.Add(c, func() {})
		var got []float64
		now := start
		s := NewSampler(reg, func(p Sample) {
			if p.Closing {
				t.Error("an open connection is not closing")
			}
			got = append(got, now.Sub(start).Seconds())
		})
		sends := tc.sends
		for tick := 0.0; tick <= 20; tick += 0.5 {
			now = at(tick)
			for len(sends) > 0 && sends[0] <= tick {
				c.Sent.Add(100)
				sends = sends[1:]
			}
			s.scan(now)
		}
		if !slices.Equal(got, tc.sampled) {
			t.Errorf("%s: sampled at %v, want %v", tc.name, got, tc.sampled)
		}
	}
}

// A response that is still under way counts up to the sample, and rest does not.
func TestSamplesSayForHowLongResponsesWereUnderWay(t *testing.T) {
	c := visitortest.Connection("a", measure.TCP, "192.0.2.7:1", visitortest.ReadingTCP, true)
	at := func(n int) time.Time { return c.Began.Add(time.Duration(n) * ms) }
	wants := func(atMs int, want int64) {
		t.Helper()
		if s, ok := New(c, at(atMs), false); !ok || s.BusyMs != want {
			t.Errorf("at %d ms: %d ms, want %d", atMs, s.BusyMs, want)
		}
	}
	wants(50, 0)
	c.Busy.Begin(at(100))
	wants(400, 300)
	c.Busy.Begin(at(500))
	c.Busy.End(at(600))
	wants(700, 600)
	c.Busy.End(at(800))
	wants(5000, 700)
	c.Busy.Begin(at(6000))
	wants(6250, 950)
}

func TestSamplerLeavesOutConnectionsWithoutRequest(t *testing.T) {
	c := visitortest.Connection("a", measure.TCP, "192.0.2.7:1", visitortest.ReadingTCP, true)
	c.Answering.Store(false)
	c.Sent.Add(3000) // a handshake
	reg := visitor.NewRegistry()
	reg.Add(c, func() {})
	s := NewSampler(reg, func(Sample) { t.Error("sampled") })
	s.scan(c.SampledAt.Add(time.Minute))
	s.Closing(c, c.SampledAt.Add(time.Minute))
}

func TestSamplerKeepsNoClosedConnections(t *testing.T) {
	reg := visitor.NewRegistry()
	c := visitortest.Connection("a", measure.TCP, "192.0.2.7:1", visitortest.ReadingTCP, true)
	reg.Add(c, func() {})
	s := NewSampler(reg, func(Sample) {})
	s.scan(c.SampledAt)
	for _, kept := range s.buf[:cap(s.buf)] {
		if kept != nil {
			t.Error("kept")
		}
	}
}

// A client that moves while its connection is read would have the old network's counters under its new address.
func TestNoSampleOfTwoStays(t *testing.T) {
	c := visitortest.Connection("a", measure.QUIC, "192.0.2.7:1", visitortest.ReadingQUIC, true)
	c.Read = func() (measure.Reading, bool) {
		c.ID = func() string { return "b" }
		return visitortest.ReadingQUIC, true
	}
	if s, ok := New(c, c.Began, false); ok {
		t.Errorf("%+v", s)
	}
}

// A client that never completes its handshake may not be who it says: nobody is told of its path.
func TestSamplesWaitForTheHandshake(t *testing.T) {
	verified := false
	c := visitor.New(measure.QUIC, time.Now())
	c.Answering.Store(true)
	c.Verified = func() bool { return verified }
	c.Client = func() netip.Addr { return netip.MustParseAddr("192.0.2.7") }
	c.Read = func() (measure.Reading, bool) { return measure.Reading{}, true }
	samples := 0
	s := NewSampler(visitor.NewRegistry(), func(Sample) { samples++ })
	s.Closing(c, time.Now())
	verified = true
	if s.Closing(c, time.Now()); samples != 1 {
		t.Errorf("%d samples, not the one after the handshake", samples)
	}
}
