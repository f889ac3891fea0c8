package visitor

import (
	"context"
	"sync"

	"adaptive-h3/infra/edge/internal/admission"
)

// Registry holds the open connections, each with the function that closes it.
type Registry struct {
	total int // connections that may be open; 0: no bound

	mu      sync.Mutex
	open    map[*Connection]*entry
	counted admission.Tally
	gone    chan struct{} // closed and replaced at every removal
	// closed counts the connections that were closed because there were too many.
	closed uint64
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	return &Registry{open: map[*Connection]*entry{}, counted: admission.NewTally(), gone: make(chan struct{})}
}

// Add enters a connection. Close and CloseAll call closeIt. Where there are too many connections, those at rest for longest are closed.
func (r *Registry) Add(c *Connection, closeIt func()) {
	e := &entry{close: closeIt}
	if c.Client != nil {
		e.client = Client(c.Client())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	crowded := r.crowded(e)
	r.open[c] = e
	if !e.closing {
		r.counted.Add(e.client)
	}
	r.closed += uint64(len(crowded))
	for _, one := range crowded {
		go one.close() // which takes r.mu at its end
	}
}

// Crowded returns how many connections were closed because there were too many.
func (r *Registry) Crowded() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// Remove forgets a connection.
func (r *Registry) Remove(c *Connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.open[c]; e != nil && !e.closing {
		r.counted.Remove(e.client)
	}
	delete(r.open, c)
	close(r.gone)
	r.gone = make(chan struct{})
}

// Snapshot appends the open connections to buf.
func (r *Registry) Snapshot(buf []*Connection) []*Connection {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.open {
		buf = append(buf, c)
	}
	return buf
}

// Close closes a connection, if it is still open.
func (r *Registry) Close(c *Connection) {
	r.mu.Lock()
	e := r.open[c]
	r.mu.Unlock()
	if e != nil {
		e.close()
	}
}

// WaitUntilGone returns when no open connection matches, or ctx ends.
func (r *Registry) WaitUntilGone(ctx context.Context, match func(*Connection) bool) {
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

// CloseAll closes what is open: websockets above all, which net/http no longer knows once they are hijacked.
func (r *Registry) CloseAll() {
	r.mu.Lock()
	closers := make([]func(), 0, len(r.open))
	for _, e := range r.open {
		closers = append(closers, e.close)
	}
	r.mu.Unlock()
	for _, c := range closers {
		c()
	}
}
