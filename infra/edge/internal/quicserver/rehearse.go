package quicserver

import (
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/connpath"
)

const (
	// rehearsalTime bounds what a slow line carries, or one that loses much.
	rehearsalTime = 2 * time.Second
	// chunk is how much goes out before the next look whether a request has come.
	chunk = 8 << 10
	// So many packets of a byte each follow, one at a time: a network that drops packets at random drops small ones as well. Of a hundred it
	// drops none in one visit of ten where it drops 2 %; of these too, in one of two hundred. All of them weigh as much as six large ones.
	smallPackets  = 150
	smallInterval = 500 * time.Microsecond
	// reserved is a type of stream that has no meaning, and may be sent while no data is transferred (RFC 9114, section 6.2.3).
	reserved = 0x21
	// settled is how many round trips later what was lost has been missed (RFC 9002, section 6).
	settled      = 3
	leastSettled = 50 * time.Millisecond
)

// rehearse sends so many bytes of nothing to a client that asks for nothing, at rate bytes per second at most, then small packets, and waits
// until the path has shown what it drops of them. Clients refuse such a stream once they know its type: a round trip later the next one begins.
//
// What the path drops at random would leave the connection with a small window, in which no page would have begun, and that grows slowly. So
// after such losses slow start begins anew, once they are all noticed: also where a request has come meanwhile.
func rehearse(qc *quic.Conn, e *events, c *connpath.Connection, bytes int, rate uint64) {
	began := time.Now()
	asked := func() bool { return c.RestsSince(time.Now()).After(began) }
	before := e.gone()
	e.overflow.Rehearses(true)
	defer e.overflow.Rehearses(false)
	nothing := make([]byte, chunk)
	var stream *quic.SendStream
	sent, small := 0, 0
	for (sent < bytes || small < smallPackets) && time.Since(began) < rehearsalTime && !asked() {
		nothing[0] = 0
		if stream == nil {
			var err error
			if stream, err = qc.OpenUniStream(); err != nil {
				break // the client allows no more, or has left
			}
			_ = stream.SetWriteDeadline(began.Add(rehearsalTime)) // a client may neither refuse it nor read
			nothing[0] = reserved
		}
		size, due := chunk, began.Add(time.Duration(float64(sent+chunk)/float64(rate)*float64(time.Second)))
		if sent >= bytes {
			small++
			size, due = 1, time.Now().Add(smallInterval)
		}
		n, err := stream.Write(nothing[:size])
		c.Rehearsed(n)
		sent += n
		if err != nil {
			stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeNoError))
			stream = nil
		}
		if !wait(qc, time.Until(due)) {
			return
		}
	}
	if stream != nil {
		stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeNoError))
	}
	if sent == 0 {
		return // what is lost from here on is a page's
	}
	wait(qc, max(leastSettled, settled*qc.ConnectionStats().SmoothedRTT))
	// Only the copy of quic-go that the edge is built with can do so (infra/setup/quic-go.ts).
	if anew, can := any(qc).(interface{ Restart() }); can && e.gone() > before {
		anew.Restart()
		e.overflow.Restart()
	}
}

// wait returns false where the connection has ended meanwhile.
func wait(qc *quic.Conn, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-qc.Context().Done():
		return false
	}
}
