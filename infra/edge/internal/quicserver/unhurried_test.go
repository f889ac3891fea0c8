package quicserver

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/handover"
)

func TestWhichPacketsBeginAHandshake(t *testing.T) {
	const initial, later, initialOfVersion2 = 0xc3, 0xe3, 0xd3
	// packet is one with a long header (RFC 9000, section 17.2), in a datagram of 1,200 bytes.
	packet := func(first byte, version string, server, own int) []byte {
		p := append([]byte{first}, version...)
		p = append(append(p, byte(server)), bytes.Repeat([]byte{1}, server)...)
		p = append(append(p, byte(own)), bytes.Repeat([]byte{2}, own)...)
		return append(p, make([]byte, 1200-len(p))...)
	}
	const one, two = "\x00\x00\x00\x01", "\x6b\x33\x43\xcf"
	whole := packet(initial, one, 8, 0)
	for _, test := range []struct {
		name   string
		packet []byte
		want   bool
	}{
		{"Chromium's first", whole, true},
		{"one with a longer random ID", packet(initial, one, 20, 0), true},
		{"Firefox' first", packet(initial, one, 8, 3), false},
		{"one to an ID that quic-go chose", packet(initial, one, 4, 0), false},
		{"one to an ID of a shared socket", packet(initial, one, new(handover.Socket).ConnectionIDLen(), 0), false},
		{"one to an ID of 255 bytes", packet(initial, one, 255, 0), true}, // quic-go drops it
		{"a later one of the handshake", packet(later, one, 8, 0), false},
		{"one of another version", packet(initialOfVersion2, two, 8, 0), false},
		{"one that asks for the versions", packet(initial, "\x00\x00\x00\x00", 8, 0), false},
		{"one of an open connection", append([]byte{0x43}, whole[1:]...), false},
		{"one that is too short", whole[:1199], false},
		{"an empty one", nil, false},
	} {
		if _, got := beginning(test.packet); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	if id, _ := beginning(whole); !bytes.Equal(id, bytes.Repeat([]byte{1}, 8)) {
		t.Errorf("the ID is %x", id)
	}
}

func TestForHowLongAHandshakeWaits(t *testing.T) {
	type step struct {
		s     float64
		busy  bool // the client's page is on its way
		waits bool
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"until the page is there", []step{{0, true, true}, {0.3, true, true}, {0.9, false, false}}},
		{"for 2.5 s at most", []step{{0, true, true}, {0.3, true, true}, {0.9, true, true}, {2.1, true, true}, {2.5, true, false}}},
		{"whose first packets were lost", []step{{0.3, true, true}, {0.9, true, true}, {2.1, true, true}, {2.8, true, false}}},
		{"not once it went on", []step{{0, false, false}, {0.3, true, false}, {0.9, true, false}}},
		{"not again", []step{{0, true, true}, {0.3, false, false}, {0.9, true, false}, {2.1, true, false}}},
		{"across the turn", []step{{4.9, true, true}, {5.2, true, true}, {5.8, true, true}, {7.4, true, false}, {8.9, true, false}}},
	} {
		busy := false
		u := &unhurried{waits: func(netip.Addr) bool { return busy }}
		at := func(s float64) time.Time {
			return time.UnixMilli(1_000_000).Add(time.Duration(s * float64(time.Second)))
		}
		u.lets([]byte("another"), netip.Addr{}, at(0))
		for _, one := range test.steps {
			busy = one.busy
			if got := u.lets([]byte("this one"), netip.Addr{}, at(one.s)) != nil; got != one.waits {
				t.Errorf("%s: after %v s %v", test.name, one.s, got)
			}
		}
	}
}

func TestAFloodOfHandshakesIsNotRemembered(t *testing.T) {
	u := &unhurried{waits: func(netip.Addr) bool { return true }}
	now := time.UnixMilli(1_000_000)
	waiting := 0
	for i := range 10 * remembered {
		if u.lets(fmt.Append(nil, i), netip.Addr{}, now) != nil {
			waiting++
		}
	}
	if got := len(u.recent.handshakes); waiting != remembered || got != remembered {
		t.Errorf("%d wait, %d are remembered", waiting, got)
	}
	if u.lets([]byte("later"), netip.Addr{}, now.Add(rememberedFor)); len(u.recent.handshakes)+len(u.older.handshakes) != remembered+1 {
		t.Errorf("%d and %d", len(u.recent.handshakes), len(u.older.handshakes))
	}
	if u.lets([]byte("much later"), netip.Addr{}, now.Add(2*rememberedFor)); len(u.recent.handshakes)+len(u.older.handshakes) != 2 {
		t.Errorf("%d and %d", len(u.recent.handshakes), len(u.older.handshakes))
	}
}
