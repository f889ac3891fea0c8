package quicserver

import (
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/connpath"
)

const (
	// rehearsalBytes are a hundred packets: of so many a network that drops 8 % of UDP loses eight, and one that holds UDP to 5 Mbit/s
	// after a burst of 50 kB more.
	rehearsalBytes = 128 << 10
	// closerBytes go where some of those were lost: to tell a loss of 2 % from TCP's takes several hundred packets.
	closerBytes = 512 << 10
	// rehearsalTime bounds what a slow line carries.
	rehearsalTime = time.Second
	// chunk is how much goes out before the next look whether a request has come.
	chunk = 8 << 10
	// reserved is a type of stream that has no meaning, and may be sent while no data is transferred (RFC 9114, section 6.2.3).
	reserved = 0x21
	// settled is how many round trips later what was lost has been missed (RFC 9002, section 6).
	settled      = 3
	leastSettled = 50 * time.Millisecond
)

// rehearse sends nothing of meaning to a client that has asked for nothing yet, at rate bytes per second at most, and waits until the
// path has shown what it drops of that. Clients refuse such a stream once they know its type: a round trip later the next one begins.
func rehearse(qc *quic.Conn, c *connpath.Connection, rate uint64) {
	began := time.Now()
	nothing := make([]byte, chunk)
	var stream *quic.SendStream
	enough := func(sent int) bool {
		return sent >= closerBytes || (sent >= rehearsalBytes && qc.QlogTrace().(*events).lost() == 0)
	}
	for sent := 0; !enough(sent) && time.Since(began) < rehearsalTime && !c.Answering(); {
		nothing[0] = 0
		if stream == nil {
			var err error
			if stream, err = qc.OpenUniStream(); err != nil {
				break // the client allows no more, or has left
			}
			_ = stream.SetWriteDeadline(began.Add(rehearsalTime)) // a client may neither refuse it nor read
			nothing[0] = reserved
		}
		n, err := stream.Write(nothing)
		c.Rehearsed(n)
		sent += n
		if err != nil {
			stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeNoError))
			stream = nil
		}
		due := time.Duration(float64(sent) / float64(rate) * float64(time.Second))
		if !wait(qc, due-time.Since(began)) {
			return
		}
	}
	if stream != nil {
		stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeNoError))
	}
	wait(qc, max(leastSettled, settled*qc.ConnectionStats().SmoothedRTT))
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
