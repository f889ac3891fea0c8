package listen

import (
	"net"
	"sync/atomic"
	"time"
)

const (
	// As nginx has them (lingering_time, lingering_timeout).
	lingerTime  = 30 * time.Second
	lingerPause = 5 * time.Second
	// How many connections may linger at a time: each holds a descriptor and a goroutine.
	lingerMost = 1024
)

// Lingerer closes connections whose client may still be sending a request that has had its response. Closing at once would
// answer those bytes with a reset, which can overtake the response on its way (RFC 9112, section 9.6).
type Lingerer struct{ lingering atomic.Int64 }

// close sends the end of this side, and returns. What the client still sends is thrown away, until it closes, pauses, or
// has had its time.
func (l *Lingerer) close(c *net.TCPConn) error {
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
