package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

type transport string

const (
	transportTCP  transport = "tcp"
	transportQUIC transport = "quic"
)

// connection is one visitor's connection, as everything but the protocol's own code sees it.
type connection struct {
	id        string // 16 hexadecimal digits, random: it names the connection in samples and says nothing of the client
	transport transport
	began     time.Time
	client    func() netip.Addr // without zone, IPv4-mapped addresses unmapped; a QUIC client may move
	read      func() (reading, bool)

	// verified says whether the handshake is complete, and so the address the client's own; nil where there is no connection
	// before that. Until then it is not sampled.
	verified func() bool
	// answering is set by the first request. Without one a connection has sent nothing but its handshake, and is not
	// sampled: port scanners and unused preconnects are no clients.
	answering atomic.Bool
	sent      atomic.Uint64 // bytes handed to the transport, counted without a system call: has anything been sent since?
	rate      *rateMeter    // QUIC only; the kernel keeps TCP's
	quic      *quicServer   // what an offer on this connection leads to; nil where that is not served here
	// lingers is set where a response ended before its request did: see lingerer.
	lingers atomic.Bool

	// Owned by the sampler's scanning goroutine.
	sampledAt   time.Time
	sampledSent uint64
}

func newConnection(t transport, now time.Time) *connection {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return &connection{id: hex.EncodeToString(id[:]), transport: t, began: now, sampledAt: now}
}

// mayOffer says whether an offer of HTTP/3 on this connection leads anywhere, as far as is known here.
func (c *connection) mayOffer() bool { return c == nil || c.quic == nil || c.quic.serves.Load() }

// sampled says whether the connection is a client's that is worth a sample.
func (c *connection) sampled() bool {
	return c.answering.Load() && (c.verified == nil || c.verified())
}

// clientAddr is how addresses are told on: an IPv4 client of a dual-stack socket is an IPv4 client, and a zone means
// something on this machine only.
func clientAddr(a netip.AddrPort) netip.Addr {
	return a.Addr().Unmap().WithZone("")
}

// clientOf is the address of a connection's client; invalid where there is no connection.
func clientOf(c *connection) netip.Addr {
	if c == nil {
		return netip.Addr{}
	}
	return c.client()
}

type connectionKey struct{}

func withConnection(ctx context.Context, c *connection) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

func connectionOf(ctx context.Context) *connection {
	c, _ := ctx.Value(connectionKey{}).(*connection)
	return c
}

// registry holds the open connections, each with what closes it.
type registry struct {
	mu   sync.Mutex
	open map[*connection]func()
	gone chan struct{} // closed and replaced at every removal
}

func newRegistry() *registry {
	return &registry{open: map[*connection]func(){}, gone: make(chan struct{})}
}

func (r *registry) add(c *connection, closeIt func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[c] = closeIt
}

func (r *registry) remove(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
	close(r.gone)
	r.gone = make(chan struct{})
}

// snapshot appends the open connections to buf.
func (r *registry) snapshot(buf []*connection) []*connection {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		buf = append(buf, c)
	}
	return buf
}

// waitUntilGone returns when no open connection matches, or ctx ends.
func (r *registry) waitUntilGone(ctx context.Context, match func(*connection) bool) {
	for {
		r.mu.Lock()
		left := false
		for c := range r.open {
			left = left || match(c)
		}
		gone := r.gone
		r.mu.Unlock()
		if !left {
			return
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return
		}
	}
}

// closeAll closes what is open: websockets above all, which net/http no longer knows once they are hijacked.
func (r *registry) closeAll() {
	r.mu.Lock()
	closers := make([]func(), 0, len(r.open))
	for _, c := range r.open {
		closers = append(closers, c)
	}
	r.mu.Unlock()
	for _, c := range closers {
		c()
	}
}
