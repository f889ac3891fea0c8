package slowstart

import "testing"

// After a restart all is as on a new connection, and what was lost before it says nothing.
func TestOverflowRestarts(t *testing.T) {
	var o Overflow
	send := func(from, to int64) {
		for packet := from; packet < to; packet++ {
			o.OnPacketSent(packet)
		}
	}
	send(0, 90)
	o.OnPacketLost(50)
	o.Restart()
	send(90, 400)
	o.OnPacketLost(60) // late
	o.OnPacketLost(189)
	if o.IsOwn(60) || o.IsOwn(189) {
		t.Error("fewer than 100 packets after a restart nothing is a connection's own doing")
	}
	o.Restart()
	send(400, 800)
	o.OnPacketLost(500)
	if o.IsOwn(399) || !o.IsOwn(500) || !o.IsOwn(1_000) {
		t.Error("the flight that overflows after a restart is no connection's own doing")
	}
}

// What a rehearsal loses is the network's doing, however much arrived before.
func TestOverflowOfARehearsal(t *testing.T) {
	var o Overflow
	o.Rehearses(true)
	for packet := range int64(400) {
		o.OnPacketSent(packet)
	}
	o.OnPacketLost(200)
	o.OnPacketLost(390)
	o.Rehearses(false)
	o.OnPacketLost(399)
	if o.IsOwn(200) || o.IsOwn(390) || o.IsOwn(399) {
		t.Error("a rehearsal's loss is the connection's own doing")
	}
}

// own sends so many packets before it notices the first loss, and others before they are lost. It says which of the lost are the connection's own
// doing.
func own(sent int64, lost ...int64) (own []int64) {
	var o Overflow
	for packet := range sent {
		o.OnPacketSent(packet)
	}
	for _, packet := range lost {
		o.OnPacketSent(max(packet, sent-1))
		o.OnPacketLost(packet)
		if o.IsOwn(packet) {
			own = append(own, packet)
		}
	}
	return own
}

func TestOverflow(t *testing.T) {
	for _, tc := range []struct {
		name string
		sent int64
		lost []int64
		own  int
	}{
		{"the flight that overflows", 800, []int64{500, 501, 650, 799}, 4},
		{"what was sent before, and is late", 800, []int64{500, 499}, 2},
		{"the next flight", 800, []int64{500, 800, 1_099}, 3},
		{"a third flight", 800, []int64{500, 1_100, 1_101}, 1},
		{"a later page", 800, []int64{500, 5_000, 5_001}, 1},
		{"the hundredth packet is the first", 120, []int64{100, 110}, 2},
		{"UDP is policed", 120, []int64{3, 50, 99, 118}, 0},
		{"lost early, and more of it late", 800, []int64{99, 500, 700}, 0},
		{"the very first packet", 10, []int64{0}, 0},
	} {
		if got := own(tc.sent, tc.lost...); len(got) != tc.own {
			t.Errorf("%s: own are %v, not %d of them", tc.name, got, tc.own)
		}
	}
}
