package connpath

import (
	"net"
	"time"
)

// QUICConn is one connection as a QUIC library knows it. Its methods have to work after the connection's end, too.
type QUICConn interface {
	// Read returns RTTs and counters. Only what QUIC cannot have may be missing: a delivery rate, which this package measures, and what
	// Reading has for TCP alone. It is called while bytes are written, so it must be cheap. Where it gives no congestion window, the delivery rate stays unknown.
	Read() Reading
	// RemoteAddr returns the address that the client has now.
	RemoteAddr() net.Addr
}

// NewQUIC makes the connection that q is. Whoever calls it sets Close, and Verified where the handshake is not complete.
func NewQUIC(q QUICConn, now time.Time) *Connection {
	var c *Connection
	c = New(QUIC, ClientAddr(q.RemoteAddr()), func() (Reading, bool) {
		r := q.Read()
		// What a rehearsal sent says what the path drops, and nothing about how fast pages come.
		r.BytesSent -= min(r.BytesSent, c.rehearsed.Load())
		r.DeliveryRate = c.rate.best()
		r.RawDeliveryRate, r.SegmentsSent, r.WindowUnitBytes = r.DeliveryRate, r.PacketsSent, 1
		return r, true
	}, now)
	c.quic, c.rate = q, &rateMeter{read: q.Read}
	c.busy.rtt = func() time.Duration { return q.Read().RTT }
	return c
}

// Moved notes that a QUIC client may go on at another address. Other networks than the one that lost a packet are not to be blamed for
// it: leaving sees the connection as it was, and counters begin anew.
func (c *Connection) Moved(now time.Time, leaving func(*Connection)) {
	c.move.Lock()
	defer c.move.Unlock()
	client := ClientAddr(c.quic.RemoteAddr())
	if client == c.Client() {
		return // another port: a NAT has forgotten the old one
	}
	leaving(c)
	before, _ := c.read()
	c.firstRTT.Store(0)
	c.at.Store(&stay{newID(), client, before})
	c.rate.restart(now)
	c.busy.restart(now)
}
