package quicserver

import (
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/visitor"
)

// stay is the time that a client spends at one address (RFC 9000, section 9).
type stay struct {
	id     string
	client netip.Addr
	before measure.Reading // of the connection, when the client came there
}

// newConnection describes an accepted QUIC connection. Its statistics are atomics of the connection, and stay readable after its
// end. Other networks than the one that lost a packet are not to be blamed for it: where the client moves, moving sees the connection
// as it was, and counters begin anew.
func newConnection(qc *quic.Conn, now time.Time, moving func(*visitor.Connection)) *visitor.Connection {
	c := visitor.New(measure.QUIC, now)
	events := measure.EventsOf(qc)
	c.Rate = measure.NewRateMeter(func() measure.Flow { return measure.QUICFlow(qc.ConnectionStats(), events) })
	c.Taken = func() uint64 { return measure.TakenQUIC(qc.ConnectionStats()) }
	inAll := func() measure.Reading { return measure.ReadQUIC(qc.ConnectionStats(), events, c.Rate.Best()) }

	var at atomic.Pointer[stay]
	events.OnMove(func() {
		old, client := at.Load(), addressOf(qc)
		if old == nil || client == old.client {
			return // another port: a NAT has forgotten the old one
		}
		moving(c)
		at.Store(&stay{visitor.NewID(), client, inAll()})
		c.Rate.Restart(time.Now())
		c.Busy.Restart(time.Now())
	})
	at.Store(&stay{id: c.ID(), client: addressOf(qc)})
	c.ID = func() string { return at.Load().id }
	c.Client = func() netip.Addr { return at.Load().client }
	c.Read = func() (measure.Reading, bool) { return inAll().Since(at.Load().before), true }
	return c
}

func addressOf(qc *quic.Conn) netip.Addr {
	if a, ok := qc.RemoteAddr().(*net.UDPAddr); ok {
		return visitor.ClientAddr(a.AddrPort())
	}
	return netip.Addr{}
}
