package quicserver

import (
	"context"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/connpath"
)

// idleTimeout is QUIC's own (RFC 9000, section 10.1): it runs while no packet comes from the client, even when the client
// waits for a response. Browsers send PINGs then.
const idleTimeout = 60 * time.Second

func (q *Server) listen(transport *quic.Transport) (http3.QUICListener, error) {
	config := &quic.Config{
		MaxIdleTimeout:     idleTimeout,
		MaxIncomingStreams: int64(q.options.MaxStreams),
		Allow0RTT:          q.options.EarlyData, // RFC 8470: a replayed request would count and act twice
		Tracer:             traceEvents(qlogs(q.options.QlogDir, q.options.Log)),
	}
	var listener http3.QUICListener
	var err error
	if q.options.EarlyData {
		listener, err = transport.ListenEarly(q.tls, config)
	} else {
		// Not ListenEarly: a connection exists only once its handshake is complete, so its address is verified and its RTT
		// measured. No request comes earlier than that, as 0-RTT is off.
		listener, err = transport.Listen(q.tls, config)
	}
	if err != nil {
		return nil, err
	}
	return takeEagerly(listener), nil
}

// accept enters an accepted connection, which s serves, in the registry, until it ends.
func (q *Server) accept(qc *quic.Conn, s *http3.Server) *connpath.Connection {
	counted := qc.QlogTrace().(*events)
	c := connpath.NewQUIC(measured{qc, counted}, time.Now())
	moved := func() { c.Moved(time.Now(), q.options.OnMove) }
	counted.onMove(moved)
	moved() // since NewQUIC
	c.Close = func() { _ = qc.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") }
	c.Retire = func() { _ = s.Shutdown(context.Background()) }
	if q.options.EarlyData {
		c.Verified = func() bool {
			select {
			case <-qc.HandshakeComplete():
				return true
			default:
				return false
			}
		}
	}
	q.options.Registry.Add(c)
	// Afterwards, so that the end of this program misses no connection.
	if q.options.EarlyData {
		go completeLater(qc)
	} else {
		complete(qc)
	}
	// The statistics are final here: the connection's own goroutine has ended. No goroutine waits for it.
	context.AfterFunc(qc.Context(), func() { q.options.OnClose(c) })
	return c
}

// completeLater ends the handshake of a connection that was accepted before its handshake was complete.
func completeLater(qc *quic.Conn) {
	select {
	case <-qc.HandshakeComplete():
		complete(qc)
	case <-qc.Context().Done(): // which ends it too
	}
}
