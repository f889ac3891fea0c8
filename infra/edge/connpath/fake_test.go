package connpath

import (
	"net"
	"net/netip"
	"time"
)

const (
	ms = time.Millisecond
	us = time.Microsecond
)

var (
	readingTCP = Reading{
		RTT: 12_345 * us, MinRTT: 10_000 * us, PacketsSent: 700, PacketsLost: 3, BytesSent: 1_000_000, DeliveryRate: 5_000_000,
	}
	readingQUIC = Reading{
		RTT: 51*us + 900*time.Nanosecond, MinRTT: 40 * us, PacketsSent: 830, BytesSent: 1_062_000, DeliveryRate: 125_000_000,
	}
	readingNoRate = Reading{RTT: 101_200 * us, MinRTT: 100_001 * us, PacketsSent: 12, BytesSent: 9000, RawDeliveryRate: 90_000}
	readingNoRTT  = Reading{PacketsSent: 5, PacketsLost: 1, BytesSent: 6400}
)

// fake returns a connection that has answered a request. client is ADDRESS:PORT; r and ok are what reading it gives. Its first RTT is
// between the two of r.
func fake(id string, t Transport, client string, r Reading, ok bool) *Connection {
	address := ClientAddr(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(client)))
	c := New(t, address, func() (Reading, bool) { return r, ok }, time.UnixMilli(0))
	c.at.Load().id = id
	c.answering.Store(true)
	c.firstRTT.Store(int64(r.RTT+r.MinRTT) / 2)
	return c
}

// answersFor has the connection answer a request for so long, at a time that is over.
func answersFor(c *Connection, lasts time.Duration) {
	c.busy.begin(c.Began)
	c.busy.end(c.Began.Add(lasts))
}
