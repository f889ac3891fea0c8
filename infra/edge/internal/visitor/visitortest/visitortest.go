// Package visitortest has connections and readings for tests. Only tests import it. Of this module it imports measure and
// visitor.
package visitortest

import (
	"net/netip"
	"time"

	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/visitor"
)

const us = time.Microsecond

var (
	ReadingTCP = measure.Reading{
		RTT: 12_345 * us, MinRTT: 10_000 * us, PacketsSent: 700, PacketsLost: 3, BytesSent: 1_000_000, DeliveryRate: 5_000_000,
	}
	ReadingQUIC = measure.Reading{
		RTT: 51*us + 900*time.Nanosecond, MinRTT: 40 * us, PacketsSent: 830, BytesSent: 1_062_000, DeliveryRate: 125_000_000,
	}
	ReadingNoRate = measure.Reading{RTT: 101_200 * us, MinRTT: 100_001 * us, PacketsSent: 12, BytesSent: 9000, RawDeliveryRate: 90_000}
	ReadingNoRTT  = measure.Reading{PacketsSent: 5, PacketsLost: 1, BytesSent: 6400}
)

// Connection returns a connection that has answered a request. client is ADDRESS:PORT; r and ok are what reading it gives.
func Connection(id string, tr measure.Transport, client string, r measure.Reading, ok bool) *visitor.Connection {
	c := visitor.New(tr, time.UnixMilli(0))
	c.ID = func() string { return id }
	c.Client = func() netip.Addr { return visitor.ClientAddr(netip.MustParseAddrPort(client)) }
	c.Read = func() (measure.Reading, bool) { return r, ok }
	c.Answering.Store(true)
	return c
}

// AnswersFor has the connection answer a request for so long, at a time that is over.
func AnswersFor(c *visitor.Connection, lasts time.Duration) {
	c.Busy.Begin(c.Began)
	c.Busy.End(c.Began.Add(lasts))
}
