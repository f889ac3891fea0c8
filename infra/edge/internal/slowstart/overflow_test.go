package slowstart

import "testing"

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
