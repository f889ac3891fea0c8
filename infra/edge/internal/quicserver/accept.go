package quicserver

import (
	"context"
	"net/http"
	"sync"
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
		Tracer:             trace,
	}
	if q.options.EarlyData {
		return transport.ListenEarly(q.tls, config)
	}
	// Not ListenEarly: a connection exists only once its handshake is complete, so its address is verified and its RTT
	// measured. No request comes earlier than that, as 0-RTT is off.
	return transport.Listen(q.tls, config)
}

// acceptors wait for connections of a listener. quic-go refuses a connection while 32 others wait to be accepted, and
// a browser that was refused calls QUIC broken for minutes. A single acceptor that waits on a busy machine for some
// milliseconds is enough for that: with one acceptor 37 to 187 of 400 simultaneous clients were refused, and with these
// not one.
const acceptors = 512

// acceptAll starts the acceptors of a listener, and returns the channel on which each says why it ended. On a busy machine it takes
// seconds until all 512 have had their turn; clients that come meanwhile are refused. So it returns when they run.
func acceptAll(from http3.QUICListener, serve func(*quic.Conn)) (ended <-chan error) {
	errs := make(chan error, acceptors)
	var starting sync.WaitGroup
	starting.Add(acceptors)
	for range acceptors {
		go func() {
			starting.Done()
			for {
				conn, err := from.Accept(context.Background())
				if err != nil {
					errs <- err
					return
				}
				go serve(conn)
			}
		}()
	}
	starting.Wait()
	return errs
}

// firstRequest is how long a client may take to send what it opened its connection for.
const firstRequest = 500 * time.Millisecond

// serve serves a connection by an http3.Server of its own, because http3 sends GOAWAY only to all connections of a server.
func (q *Server) serve(qc *quic.Conn) {
	s := &http3.Server{
		Handler:        q.options.Handler,
		MaxHeaderBytes: q.options.MaxHeaderBytes, // and no IdleTimeout: see internal/resting
	}
	s.ConnContext = func(ctx context.Context, qc *quic.Conn) context.Context {
		ctx = context.WithValue(ctx, http.ServerContextKey, q.options.InContext)
		return connpath.NewContext(ctx, q.accept(qc, s))
	}
	_ = s.ServeQUICConn(qc)
}

// accept enters an accepted connection, which s serves, in the registry, until it ends.
func (q *Server) accept(qc *quic.Conn, s *http3.Server) *connpath.Connection {
	counted := qc.QlogTrace().(*events)
	c := connpath.NewQUIC(measured{qc, counted}, time.Now())
	moved := func() { c.Moved(time.Now(), q.options.Registry.SampleClosing) }
	counted.onMove(moved)
	moved() // since NewQUIC
	c.Stack = q.options.Stack
	c.Close = func() { _ = qc.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") }
	c.Retire = func(grace context.Context) { _ = s.Shutdown(grace) }
	c.Rehearse = func(bytes int, rate uint64) { rehearse(qc, counted, c, bytes, rate) }
	c.Verified = func() bool {
		select {
		case <-qc.HandshakeComplete():
			return true
		default:
			return false
		}
	}
	q.options.Registry.Add(c)
	if q.ending() { // Shutdown may not have seen this one
		go retire(c, q.grace)
	}
	// Afterwards, so that the end of this program misses no connection.
	go complete(qc)
	// The statistics are final here: the connection's own goroutine has ended. No goroutine waits for it.
	context.AfterFunc(qc.Context(), func() { q.options.OnClose(c) })
	return c
}

// retire tells a client that its further requests are refused, unless its first one may still be on its way.
func retire(c *connpath.Connection, grace context.Context) {
	if !c.Answering() {
		select {
		case <-time.After(firstRequest):
		case <-grace.Done():
		}
	}
	c.Retire(grace)
}

// complete ends the handshake of an accepted connection once it is complete.
func complete(qc *quic.Conn) {
	select {
	case <-qc.HandshakeComplete():
		if end, ok := qc.Context().Value(handshakeKey{}).(func()); ok {
			end()
		}
	case <-qc.Context().Done(): // which ends it too
	}
}
