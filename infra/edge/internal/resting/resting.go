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
	"crypto/tls"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

const (
	interval = time.Second
	// How long a client has to leave after a GOAWAY. A request that is on its way meanwhile is served over HTTP/2. Over HTTP/3 it is
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

// Closer closes the resting connections of a registry.
type Closer struct {
	registry *connpath.Registry
	timeout  time.Duration
	buf      []*connpath.Connection
	told     map[*connpath.Connection]time.Time // since when their clients know
}

// New makes a closer of connections that rest for timeout. Run has to run for it to close any.
func New(registry *connpath.Registry, timeout time.Duration) *Closer {
	return &Closer{registry: registry, timeout: timeout, told: map[*connpath.Connection]time.Time{}}
}

// Run looks until ctx ends.
func (c *Closer) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			c.look(now)
		}
	}
}

// look tells the clients of connections that have rested for long, and closes those whose clients have been told.
func (c *Closer) look(now time.Time) {
	c.buf = c.registry.Snapshot(c.buf[:0])
	told := make(map[*connpath.Connection]time.Time, len(c.told))
	for _, conn := range c.buf {
		since := conn.RestsSince(now)
		if now.Sub(since) < c.timeout {
			continue
		}
		if at, knows := c.told[conn]; knows && at.After(since) {
			told[conn] = at
			if now.Sub(at) < farewell {
				continue
			}
		} else if tell := farewellOf(conn); tell != nil {
			told[conn] = now
			go func() {
				if c.rests(conn) {
					tell()
				}
			}()
			continue
		}
		// A close can block while a client does not read.
		go c.end(conn)
	}
	c.told = told
	clear(c.buf) // so that it keeps no closed connections in memory
}

// secured returns the TLS of a TCP connection that has had a request; nil for any other. Before that its handshake may be under way.
func secured(c *connpath.Connection) *tls.Conn {
	if !c.Answering() {
		return nil
	}
	return c.TLS.Load()
}

// farewellOf returns what tells a connection's client not to send further requests on it; nil: its protocol cannot say so.
func farewellOf(conn *connpath.Connection) func() {
	if conn.Retire != nil {
		return func() { conn.Retire(context.Background()) }
	}
	if t := secured(conn); t != nil && t.ConnectionState().NegotiatedProtocol == "h2" {
		return func() { tell(t) }
	}
	return nil
}

// rests says whether no request has come since look.
func (c *Closer) rests(conn *connpath.Connection) bool {
	now := time.Now()
	return now.Sub(conn.RestsSince(now)) >= c.timeout
}

// end closes a connection, and tells a TLS client so.
func (c *Closer) end(conn *connpath.Connection) {
	if !c.rests(conn) {
		return
	}
	if t := secured(conn); t != nil {
		_ = t.Close()
		return
	}
	conn.Close()
}

// tell writes a GOAWAY beside the HTTP/2 server, which writes nothing while no response is under way. A request that comes in the
// instant between this look and the write would have to be answered within it to meet the GOAWAY inside a frame.
func tell(t *tls.Conn) {
	_ = t.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, _ = t.Write(goAway)
	_ = t.SetWriteDeadline(time.Time{})
}
