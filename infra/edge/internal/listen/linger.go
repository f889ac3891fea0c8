package listen

import (
	"net"
	"sync/atomic"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

const (
	// nginx has the same defaults (lingering_time, lingering_timeout).
	lingerTime  = 30 * time.Second
	lingerPause = 5 * time.Second
	// The most connections that may linger at a time: each holds a descriptor and a goroutine.
	lingerMost = 1024
)

// Lingerer closes connections whose client may still send a request that has its response already. A close at once would
// answer those bytes with a reset, which can overtake the response on its way (RFC 9112, section 9.6). One Lingerer serves
// all listeners. Its zero value is ready to use.
type Lingerer struct{ lingering atomic.Int64 }

// Close closes the connection's socket. Where the connection lingers, Close sends the end of this side, and returns. A goroutine throws
// away what the client still sends, until the client closes, pauses for lingerPause, or lingerTime is over.
func (l *Lingerer) Close(of *connpath.Connection, c *net.TCPConn) error {
	if !of.Lingers.Load() {
		return c.Close()
	}
	if l.lingering.Add(1) > lingerMost || c.CloseWrite() != nil {
		l.lingering.Add(-1)
		return c.Close()
	}
	go func() {
		defer l.lingering.Add(-1)
		defer c.Close()
		end := time.Now().Add(lingerTime)
		buf := make([]byte, 4<<10)
		for {
			now := time.Now()
			if now.After(end) || c.SetReadDeadline(now.Add(lingerPause)) != nil {
				return
			}
			if _, err := c.Read(buf); err != nil {
				return
			}
		}
	}()
	return nil
}
