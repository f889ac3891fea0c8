// Package resting closes connections on which no request is under way for long. Of this module it imports connpath.
//
// The servers of HTTP/2 and HTTP/3 could do so themselves. But each of their timers starts anew when the last request of a
// connection ends, also where it ends because the connection has ended. Such a timer keeps all of a dead connection in memory
// until it fires (measured: 14 to 40 KB for 120 s). A client that leaves again and again could fill any memory.
//
// A request counts from when its header is here, as nobody sees it before.
package resting

import (
	"context"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

const (
	interval = time.Second
	// How long a client has to leave after its first GOAWAY. A request that is on its way meanwhile is served over HTTP/2. Over HTTP/3 it is
	// refused with H3_REQUEST_REJECTED, so that the client knows that it can send it again (RFC 9114, section 4.1.1): http3 names the
	// next stream in its GOAWAY.
	farewell = 5 * time.Second
	// How long the kernel may take to accept a GOAWAY, which it does at once unless a client does not read.
	writeTimeout = time.Second
)

// goAway says over HTTP/2 that no new streams are wanted (RFC 9113, section 6.8): with the highest stream identifier and
// NO_ERROR, so that none that is on its way is refused.
var goAway = []byte{
	0, 0, 8, 7, 0, 0, 0, 0, 0, // length, type GOAWAY, no flags, stream 0
	0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0,
}

// Run closes the connections of a registry that rest for timeout, until ctx ends. Where the protocol has a word for it, clients
// are asked to leave first, again at each look. A client that was asked to leave HTTP/3 already (TakeBack) has less time: while its
// connection stays open, Firefox uses no other, and makes none when HTTP/3 is offered again.
func Run(ctx context.Context, registry *connpath.Registry, timeout time.Duration) {
	registry.Each(ctx, interval, func(conn *connpath.Connection, now time.Time) {
		asks, ends := timeout, timeout+farewell
		if conn.TakenBack() {
			asks, ends = farewell, farewell
		}
		rests := now.Sub(conn.RestsSince(now))
		if rests < asks {
			return
		}
		ask, end := waysOut(conn)
		if ask == nil || rests >= ends {
			ask = end
		}
		go func() { // it can block while a client does not read
			if now := time.Now(); now.Sub(conn.RestsSince(now)) >= asks {
				ask()
			}
		}()
	})
}

// waysOut returns what asks a connection's client not to send further requests on it (nil: its protocol cannot say so), and what closes
// the connection.
func waysOut(c *connpath.Connection) (ask, end func()) {
	if c.Retire != nil {
		return func() { c.Retire(context.Background()) }, c.Close
	}
	t := c.TLS.Load()
	if t == nil || !c.Answering() { // its handshake may be under way
		return nil, c.Close
	}
	end = func() { _ = t.Close() } // which tells the client so
	if t.ConnectionState().NegotiatedProtocol != "h2" {
		return nil, end
	}
	// A GOAWAY goes beside the HTTP/2 server, which writes nothing while no response is under way. A request that comes in the instant
	// between the look and the write would have to be answered within it to meet the GOAWAY inside a frame.
	return func() {
		_ = t.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, _ = t.Write(goAway)
		_ = t.SetWriteDeadline(time.Time{})
	}, end
}
