package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/quicserver"
)

const (
	poll = 20 * time.Millisecond
	// How long connections that were closed may take to be gone, with their last samples.
	goneTimeout = 2 * time.Second

	// As internal/resting gives a client.
	farewell = 5 * time.Second
	// How long this program serves on while it waits for the one that follows it.
	successorWait = 2 * time.Second
	// How long a client of HTTP/1.1 may take for one more request, whose response says that it is the last. The protocol has no
	// other word for it: a connection at rest that is closed can meet a request on its way.
	lastRequestWait = 2 * time.Second
	// How long a packet that came to this program and not to the one that follows may take to become a handshake that counts.
	arrival = 500 * time.Millisecond
	// A websocket that carried nothing for this long waits for nothing.
	websocketQuiet = 2 * time.Second

	// What http3 has written when its last handler returns may still be under way, or may be lost and sent again. Closing
	// the connection would throw it away, so clients that do not close it get this time.
	linger = time.Second
)

// shutdown stops everything. Requests and websockets have the timeout to finish.
func (e *edge) shutdown(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	for _, stop := range slices.Backward(e.stops) {
		stop(ctx)
	}
	e.stops = nil
}

// drain waits for the program that follows, if one can, stops accepting, lets requests and websockets finish, and closes what is left.
func (e *edge) drain(ctx context.Context) {
	followed := slices.ContainsFunc(e.servers, func(s *server) bool { return s.socket.Inherited })
	if followed {
		e.waitForSuccessor(ctx)
	}
	e.handler.LastRequests()
	for _, s := range e.servers {
		_ = s.socket.TCP.Close()
	}
	// Before that a connection can be accepted that its server does not know yet.
	e.accepting.Wait()
	var all, tcp sync.WaitGroup
	for _, s := range e.servers {
		tcp.Go(func() {
			if followed {
				e.waitForLastRequests(ctx)
			}
			if s.http.Shutdown(ctx) != nil {
				_ = s.http.Close()
			}
		})
		if s.quic != nil {
			all.Go(func() { e.shutdownHTTP3(ctx, s.quic, followed) })
		}
	}
	noMore, end := context.WithCancel(ctx)
	defer end()
	all.Go(func() { e.endWebsockets(ctx, noMore) })
	tcp.Wait()
	end()
	all.Wait()

	// Websockets above all, which net/http no longer knows once they are hijacked.
	for _, c := range e.registry.Snapshot() {
		c.Close()
	}
	e.untilGone(context.Background(), goneTimeout, func(*connpath.Connection) bool { return true })
}

// waitForSuccessor returns once another program serves the same sockets. Without HTTP/3 nobody says so, and nobody has to: clients
// of TCP wait in the listener's queue.
func (e *edge) waitForSuccessor(ctx context.Context) {
	if !slices.ContainsFunc(e.servers, func(s *server) bool { return s.quic != nil && s.socket.Inherited }) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, successorWait)
	defer cancel()
	select {
	case <-e.succeeded:
	case <-ctx.Done():
	}
}

// waitForLastRequests returns when no connection is left whose next request http.Server.Shutdown would drop: one of HTTP/1.1, or one
// that has had no request yet.
func (e *edge) waitForLastRequests(ctx context.Context) {
	e.untilGone(ctx, lastRequestWait, func(c *connpath.Connection) bool {
		if c.Transport != connpath.TCP || c.Upgraded.Load() {
			return false
		}
		return !c.Answering() || c.TLS.Load().ConnectionState().NegotiatedProtocol != "h2"
	})
}

// untilGone returns when no open connection matches, or after the timeout.
func (e *edge) untilGone(ctx context.Context, timeout time.Duration, match func(*connpath.Connection) bool) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	until(ctx, func() bool { return !slices.ContainsFunc(e.registry.Snapshot(), match) })
}

// until returns when done says so, or ctx ends.
func until(ctx context.Context, done func() bool) {
	for ctx.Err() == nil && !done() {
		pause(ctx, poll)
	}
}

// pause returns after d, or when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// endWebsockets closes each websocket once it is quiet, until none is left and none can come any more.
func (e *edge) endWebsockets(ctx, noMore context.Context) {
	until(ctx, func() bool {
		left := noMore.Err() == nil // before the look
		for _, c := range e.registry.Snapshot() {
			if !c.Upgraded.Load() {
				continue
			}
			left = true
			if c.Quiet() >= websocketQuiet {
				c.Close()
			}
		}
		return !left
	})
}

// shutdownHTTP3 ends a QUIC server when its requests are done and what they sent has had time to arrive.
func (e *edge) shutdownHTTP3(ctx context.Context, q *quicserver.Server, followed bool) {
	grace, end := context.WithCancel(ctx)
	defer end()
	q.Shutdown(grace)
	wait := linger
	if followed {
		pause(grace, arrival)
		wait = farewell // in which any client has read its GOAWAY
	}
	// A client whose handshake is in progress may have sent a request.
	until(grace, func() bool {
		handshakes, _, _ := e.handshakes.Counts()
		return handshakes == 0 && e.handler.Active() == 0
	})
	e.untilGone(grace, wait, func(c *connpath.Connection) bool { return c.Transport == connpath.QUIC })
}
