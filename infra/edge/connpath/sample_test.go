package connpath

import (
	"slices"
	"testing"
	"time"
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
		{"once, then rest", []float64{0}, []float64{1}},
		{"late, then rest", []float64{8}, []float64{8}},
		{"twice", []float64{0, 7}, []float64{1, 7}},
		{"again soon", []float64{0, 2, 3}, []float64{1, 6}},
		{"with short pauses", []float64{0, 0.5, 1, 1.5}, []float64{2.5}},
		{"all the time", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, []float64{5, 10, 15, 20}},
	}
	for _, tc := range cases {
		c := fake("a", TCP, "192.0.2.7:1", readingTCP, true)
		c.sampledAt = start
		var got []float64
		now := start
		s := &Registry{Emit: func(p Sample) {
			if p.Closing {
				t.Error("an open connection is not closing")
			}
			got = append(got, now.Sub(start).Seconds())
		}}
		s.Add(c)
		sends := tc.sends
		for tick := 0.0; tick <= 20; tick += 0.5 {
			now = at(tick)
			for len(sends) > 0 && sends[0] <= tick {
				c.sent.Add(100)
				sends = sends[1:]
			}
			s.sampleDue(c, now)
		}
		if !slices.Equal(got, tc.sampled) {
			t.Errorf("%s: sampled at %v, want %v", tc.name, got, tc.sampled)
		}
	}
}

// A response that is still under way counts up to the sample, and rest does not.
func TestSamplesSayForHowLongResponsesWereUnderWay(t *testing.T) {
	c := fake("a", TCP, "192.0.2.7:1", readingTCP, true)
	at := func(n int) time.Time { return c.Began.Add(time.Duration(n) * ms) }
	wants := func(atMs int, want int64) {
		t.Helper()
		if s, ok := newSample(c, at(atMs), false); !ok || s.BusyMs != want {
			t.Errorf("at %d ms: %d ms, want %d", atMs, s.BusyMs, want)
		}
	}
	wants(50, 0)
	c.busy.begin(at(100))
	wants(400, 300)
	c.busy.begin(at(500))
	c.busy.end(at(600))
	wants(700, 600)
	c.busy.end(at(800))
	wants(5000, 700)
	c.busy.begin(at(6000))
	wants(6250, 950)
}

func TestSamplerLeavesOutConnectionsWithoutRequest(t *testing.T) {
	c := fake("a", TCP, "192.0.2.7:1", readingTCP, true)
	c.answering.Store(false)
	c.sent.Add(3000) // a handshake
	s := &Registry{Emit: func(Sample) { t.Error("sampled") }}
	s.Add(c)
	s.sampleDue(c, c.sampledAt.Add(time.Minute))
	s.SampleClosing(c)
}

// A client that moves while its connection is read would have the old network's counters under its new address.
func TestNoSampleOfTwoStays(t *testing.T) {
	c := fake("a", QUIC, "192.0.2.7:1", readingQUIC, true)
	c.read = func() (Reading, bool) {
		c.at.Store(&stay{id: "b", client: c.Client()})
		return readingQUIC, true
	}
	if s, ok := newSample(c, c.Began, false); ok {
		t.Errorf("%+v", s)
	}
}

// A client that never completes its handshake may not be who it says: nobody is told of its path.
func TestSamplesWaitForTheHandshake(t *testing.T) {
	verified := false
	c := fake("a", QUIC, "192.0.2.7:1", readingQUIC, true)
	c.answering.Store(true)
	c.Verified = func() bool { return verified }
	samples := 0
	s := &Registry{Emit: func(Sample) { samples++ }}
	s.SampleClosing(c)
	verified = true
	if s.SampleClosing(c); samples != 1 {
		t.Errorf("%d samples, not the one after the handshake", samples)
	}
}
