package main

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
		{"once, then rest", []float64{0}, []float64{5}},
		{"late, then rest", []float64{8}, []float64{8}},
		{"twice", []float64{0, 7}, []float64{5, 10}},
		{"all the time", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, []float64{5, 10, 15, 20}},
	}
	for _, tc := range cases {
		c := fakeConnection("a", transportTCP, "192.0.2.7:1", readingTCP, true)
		c.sampledAt = start
		reg := newRegistry()
		reg.add(c, func() {})
		var got []float64
		now := start
		s := &sampler{registry: reg, emit: func(p pathSample) {
			if p.Closing {
				t.Error("an open connection is not closing")
			}
			got = append(got, now.Sub(start).Seconds())
		}}
		sends := tc.sends
		for tick := 0.0; tick <= 20; tick += 0.5 {
			now = at(tick)
			for len(sends) > 0 && sends[0] <= tick {
				c.sent.Add(100)
				sends = sends[1:]
			}
			s.scan(now)
		}
		if !slices.Equal(got, tc.sampled) {
			t.Errorf("%s: sampled at %v, want %v", tc.name, got, tc.sampled)
		}
	}
}

func TestSamplerLeavesOutConnectionsWithoutRequest(t *testing.T) {
	c := fakeConnection("a", transportTCP, "192.0.2.7:1", readingTCP, true)
	c.answering.Store(false)
	c.sent.Add(3000) // a handshake
	reg := newRegistry()
	reg.add(c, func() {})
	s := &sampler{registry: reg, emit: func(pathSample) { t.Error("sampled") }}
	s.scan(c.sampledAt.Add(time.Minute))
	s.closing(c, c.sampledAt.Add(time.Minute))
}

func TestSamplerKeepsNoClosedConnections(t *testing.T) {
	reg := newRegistry()
	c := fakeConnection("a", transportTCP, "192.0.2.7:1", readingTCP, true)
	reg.add(c, func() {})
	s := &sampler{registry: reg, emit: func(pathSample) {}}
	s.scan(c.sampledAt)
	for _, kept := range s.buf[:cap(s.buf)] {
		if kept != nil {
			t.Error("kept")
		}
	}
}
