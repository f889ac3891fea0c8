package connpath

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// An open connection is sampled this long after its last sample (or its beginning) if it has sent anything since.
	// The one rule gives both a sample after 5 s of rest, and at most one in 5 s while it sends.
	interval = 5 * time.Second
	// Its first sample is taken as soon as it has rested for this long: by then a page is there, and the client's next connection is compared
	// with it. What a network does to UDP alone shows only beside TCP.
	firstRest    = time.Second
	scanInterval = 500 * time.Millisecond
)

// Registry holds the open connections, and samples them. Its zero value is ready to use. Its fields are set before its first connection.
type Registry struct {
	// Emit takes the samples. It must not block; nil: there are none.
	Emit func(Sample)
	// Added sees each connection that was added; it may be nil.
	Added func(*Connection)

	mu   sync.RWMutex
	open map[netip.Addr]map[*Connection]struct{} // by where they began
}

// Add enters a connection.
func (r *Registry) Add(c *Connection) {
	r.mu.Lock()
	if r.open == nil {
		r.open = map[netip.Addr]map[*Connection]struct{}{}
	}
	if r.open[c.from] == nil {
		r.open[c.from] = map[*Connection]struct{}{}
	}
	r.open[c.from][c] = struct{}{}
	r.mu.Unlock()
	if r.Added != nil {
		r.Added(c)
	}
}

// Remove forgets a connection.
func (r *Registry) Remove(c *Connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.open[c.from], c); len(r.open[c.from]) == 0 {
		delete(r.open, c.from)
	}
}

// Snapshot returns the open connections.
func (r *Registry) Snapshot() []*Connection {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var all []*Connection
	for _, of := range r.open {
		all = slices.AppendSeq(all, maps.Keys(of))
	}
	return all
}

// From returns the open connections that began at a client's address; none where they are more than most.
func (r *Registry) From(client netip.Addr, most int) []*Connection {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.open[client]) > most {
		return nil
	}
	return slices.Collect(maps.Keys(r.open[client]))
}

// Each has visit see each open connection every so often, until ctx ends: one goroutine for all.
func (r *Registry) Each(ctx context.Context, every time.Duration, visit func(c *Connection, now time.Time)) {
	r.All(ctx, every, func(open []*Connection, now time.Time) {
		for _, c := range open {
			visit(c, now)
		}
	})
}

// All has look see the open connections every so often, until ctx ends.
func (r *Registry) All(ctx context.Context, every time.Duration, look func(open []*Connection, now time.Time)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			look(r.Snapshot(), now)
		}
	}
}

// Run samples the open connections until ctx ends.
func (r *Registry) Run(ctx context.Context) { r.Each(ctx, scanInterval, r.sampleDue) }

// sampleDue samples a connection if it is due.
func (r *Registry) sampleDue(c *Connection, now time.Time) {
	sent := c.sent.Load()
	if sent != c.scannedSent {
		c.scannedAt, c.scannedSent = now, sent
	}
	isFirst := c.sampledSent == 0 && now.Sub(c.scannedAt) >= firstRest
	if sent == c.sampledSent || (!isFirst && now.Sub(c.sampledAt) < interval) {
		return
	}
	if r.sample(c, now, false) {
		c.sampledAt, c.sampledSent = now, sent
	}
}

// SampleNow samples an open connection, whether or not it is due.
func (r *Registry) SampleNow(c *Connection) { r.sample(c, time.Now(), false) }

// SampleClosing samples a connection at its end, or before its client's move, while its statistics can still be read.
func (r *Registry) SampleClosing(c *Connection) { r.sample(c, time.Now(), true) }

func (r *Registry) sample(c *Connection, now time.Time, closing bool) bool {
	if r.Emit == nil || !c.Sampled() {
		return false
	}
	s, ok := newSample(c, now, closing)
	if ok {
		r.Emit(s)
	}
	return ok
}
