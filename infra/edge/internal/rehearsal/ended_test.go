package rehearsal

import (
	"net/netip"
	"testing"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

func TestEndedForgets(t *testing.T) {
	client, start := netip.MustParseAddr("192.0.2.7"), time.UnixMilli(1_000_000)
	// closing makes a connection that knows how many packets it has sent, and has offered HTTP/3.
	closing := func(transport connpath.Transport, from netip.Addr, packets uint64) *connpath.Connection {
		c := connpath.New(transport, from, func() (connpath.Reading, bool) { return connpath.Reading{PacketsSent: packets}, true }, start)
		c.Offers()
		return c
	}
	e := NewEnded()
	expect := func(when string, want uint64) {
		t.Helper()
		if _, r, is := e.last(client); r.PacketsSent != want || is != (want > 0) {
			t.Errorf("%s: %d packets, %t", when, r.PacketsSent, is)
		}
	}
	e.Note(connpath.New(connpath.TCP, client, closing(connpath.TCP, client, 1).Read, start), start)
	expect("HTTP/3 was not offered", 0)
	e.Note(closing(connpath.QUIC, client, 2), start)
	expect("a QUIC connection", 0)
	e.Note(closing(connpath.TCP, client, 3), start)
	e.Note(closing(connpath.TCP, client, 4), start)
	expect("two connections", 4)
	for i := range remembered { // the last one is too many
		e.Note(closing(connpath.TCP, netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 5), start)
	}
	if _, _, is := e.last(netip.AddrFrom4([4]byte{10, 0, (remembered - 1) >> 8, (remembered - 1) & 0xff})); is || len(e.ends) != remembered {
		t.Errorf("%d are remembered", len(e.ends))
	}
	e.Note(closing(connpath.TCP, client, 6), start)
	expect("a known client among many", 6)
	e.forget(start.Add(rememberedFor - 1))
	expect("soon", 6)
	e.forget(start.Add(rememberedFor))
	expect("later", 0)
	(*Ended)(nil).Note(closing(connpath.TCP, client, 7), start)
}
