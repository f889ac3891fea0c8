package connpath

import (
	"testing"
	"time"
)

// script drives a meter in steps: each writes bytes that take a while, then pauses.
type step struct {
	wait, pause  time.Duration
	bytes        int
	window       uint64 // bytes, at the end
	lost         uint64 // bytes
	endsResponse bool
}

func runScript(srtt time.Duration, steps []step) uint64 {
	now := time.UnixMilli(1_000_000)
	f := Reading{CongestionWindow: 40_000, RTT: srtt}
	m := &rateMeter{read: func() Reading { return f }}
	for _, s := range steps {
		m.writeBegins(now)
		now = now.Add(s.wait)
		f.BytesSent += uint64(s.bytes)
		f.BytesLost += s.lost
		if s.window > 0 {
			f.CongestionWindow = s.window
		}
		m.writeEnds(now, s.bytes)
		if s.endsResponse {
			m.responseEnds(now)
		}
		now = now.Add(s.pause)
	}
	return m.best()
}

func repeat(n int, s step) []step {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = s
	}
	return steps
}

func TestRateMeter(t *testing.T) {
	cases := []struct {
		name     string
		srtt     time.Duration
		steps    []step
		min, max uint64
	}{
		// 32 KB in 8 ms is 4 MB/s; of the 160 ms of an interval the window of 40 KB is worth 10.
		{"steady", 10 * ms, repeat(50, step{wait: 8 * ms, bytes: 32_000}), 3_700_000, 3_800_000},
		// As before, but one byte in four is lost on the way.
		{"losses are not delivered", 10 * ms, repeat(50, step{wait: 8 * ms, bytes: 32_000, lost: 8000}), 2_700_000, 2_800_000},
		{"waiting for the upstream", 10 * ms, repeat(50, step{wait: ms, pause: 7 * ms, bytes: 32_000}), 0, 0},
		{"pauses of no weight", 10 * ms, repeat(50, step{wait: 8 * ms, pause: ms, bytes: 32_000}), 3_250_000, 3_400_000},
		{"long pauses between bursts", 10 * ms, repeat(5, step{wait: 8 * ms, pause: time.Second, bytes: 32_000}), 0, 0},
		{"waiting for the upstream first", 10 * ms, append(repeat(50, step{wait: ms, pause: 7 * ms, bytes: 32_000}),
			repeat(50, step{wait: 8 * ms, bytes: 32_000})...), 3_700_000, 3_800_000},
		{"never a round trip", 100 * ms, []step{{wait: 50 * ms, bytes: 100_000, endsResponse: true}}, 0, 0},
		{"a small response", 5 * ms, []step{{wait: 15 * ms, bytes: 60_000, endsResponse: true}}, 0, 0},
		// 100 KB in 15 ms, of which the 40 KB of the window may still be under way: 60 KB / 15 ms, within 40 KB / 15 ms.
		{"a short response", 15 * ms, []step{{wait: 15 * ms, bytes: 100_000, endsResponse: true}}, 2_660_000, 2_670_000},
		// Slow start: the window grew to 160 KB, so of 300 KB only 140 KB are sure to have arrived in 100 ms.
		{"slow start", 25 * ms, []step{{wait: 100 * ms, bytes: 300_000, window: 160_000}}, 1_390_000, 1_400_000},
		// A cut of the window at a loss leaves more than the new window in flight.
		{
			"a cut", 10 * ms,
			[]step{{wait: 30 * ms, bytes: 100_000, window: 90_000}, {wait: 30 * ms, bytes: 100_000, window: 45_000}},
			1_830_000, 1_840_000,
		},
		// However fast bytes leave, a sender that waits for its window delivers at most a window each round trip.
		{"bounded by the window", 20 * ms, repeat(50, step{wait: 8 * ms, bytes: 320_000}), 1_990_000, 2_000_000},
		{"losses step back", 10 * ms, []step{
			{wait: 30 * ms, bytes: 120_000, lost: 20_000}, {wait: 30 * ms, bytes: 120_000, lost: ^uint64(19_999)},
		}, 3_300_000, 3_400_000},
	}
	for _, tc := range cases {
		if got := runScript(tc.srtt, tc.steps); got < tc.min || got > tc.max {
			t.Errorf("%s: %d, want %d to %d", tc.name, got, tc.min, tc.max)
		}
	}
}

func TestRateMeterOverStreams(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	f := Reading{CongestionWindow: 40_000, RTT: 10 * ms}
	m := &rateMeter{read: func() Reading { return f }}
	m.writeBegins(now) // this stream waits all the time
	for range 50 {
		m.writeBegins(now)
		now = now.Add(ms)
		f.BytesSent += 4000
		m.writeEnds(now, 2000)
		m.responseEnds(now)
		now = now.Add(7 * ms) // the other one does not
		f.BytesSent += 28_000
	}
	m.writeEnds(now, 1_500_000)
	if got := m.best(); got < 3_600_000 || got > 4_000_000 {
		t.Errorf("got %d, want a little under 4 MB/s: the connection was waiting all the time", got)
	}
}

// What the path before delivered says nothing about the next one, also where a Write is under way at the move.
func TestRateMeterRestarts(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	f := Reading{CongestionWindow: 40_000, RTT: 10 * ms}
	m := &rateMeter{read: func() Reading { return f }}
	write := func(wait time.Duration, movesAfter time.Duration) {
		m.writeBegins(now)
		now = now.Add(movesAfter)
		if movesAfter > 0 {
			m.restart(now)
		}
		now = now.Add(wait - movesAfter)
		f.BytesSent += 32_000
		m.writeEnds(now, 32_000)
	}
	for range 50 {
		write(8*ms, 0)
	}
	fast := m.best()
	write(8*ms, 4*ms)
	if got := m.best(); fast == 0 || got != 0 {
		t.Errorf("%d, then %d", fast, got)
	}
	for range 50 {
		write(80*ms, 0)
	}
	if got := m.best(); got == 0 || got > fast/8 {
		t.Errorf("%d on a path a tenth as fast as one of %d", got, fast)
	}
}

func TestRateMeterWindow(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	m := &rateMeter{}
	for _, s := range []struct {
		after      time.Duration
		rate, want uint64
	}{
		{0, 100, 100},
		{time.Second, 50, 100},
		{4500 * ms, 60, 100},                 // a new bucket, the old one still counts
		{5500 * ms, 40, 60},                  // the first is gone
		{10 * time.Minute, 10, 10},           // all are
		{10 * time.Minute, 1 << 40, 1 << 40}, // and the last stays for as long as nothing new comes
	} {
		now = now.Add(s.after)
		m.keep(now, s.rate)
		if got := m.best(); got != s.want {
			t.Errorf("after %v: %d, want %d", s.after, got, s.want)
		}
	}
}
