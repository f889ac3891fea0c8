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

// connections are those that are served now. Each has an http3.Server of its own, because http3 sends GOAWAY only to all
// connections of a server.
type connections struct {
	mu    sync.Mutex
	open  map[*http3.Server]struct{}
	grace context.Context // of Shutdown; nil before it
}

// firstRequest is how long a client may take to send what it opened its connection for.
const firstRequest = 500 * time.Millisecond

// add enters a connection. One that comes after Shutdown began is told after its first request.
func (c *connections) add(s *http3.Server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[s] = struct{}{}
	if grace := c.grace; grace != nil {
		time.AfterFunc(firstRequest, func() { _ = s.Shutdown(grace) })
	}
}

func (c *connections) remove(s *http3.Server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, s)
}

// shutdown sends GOAWAY on every connection, and returns when their clients have closed them. Those that are open when grace ends
// are closed then.
func (c *connections) shutdown(grace context.Context) {
	var all sync.WaitGroup
	c.mu.Lock()
	c.grace = grace
	for s := range c.open {
		all.Go(func() { _ = s.Shutdown(grace) })
	}
	c.mu.Unlock()
	all.Wait()
}

func (q *Server) serve(qc *quic.Conn) {
	s := &http3.Server{
		Handler:        q.options.Handler,
		MaxHeaderBytes: q.options.MaxHeaderBytes, // and no IdleTimeout: see internal/resting
	}
	s.ConnContext = func(ctx context.Context, qc *quic.Conn) context.Context {
		q.connections.add(s)
		ctx = context.WithValue(ctx, http.ServerContextKey, q.options.InContext)
		return connpath.NewContext(ctx, q.accept(qc, s))
	}
	defer q.connections.remove(s)
	_ = s.ServeQUICConn(qc)
}
