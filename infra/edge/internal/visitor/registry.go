package visitor

import (
	"context"
	"sync"
)

// Registry holds the open connections, each with the function that closes it.
type Registry struct {
	mu   sync.Mutex
	open map[*Connection]func()
	gone chan struct{} // closed and replaced at every removal
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	return &Registry{open: map[*Connection]func(){}, gone: make(chan struct{})}
}

// Add enters a connection. Close and CloseAll call closeIt.
func (r *Registry) Add(c *Connection, closeIt func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[c] = closeIt
}

// Remove forgets a connection.
func (r *Registry) Remove(c *Connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	closeIt := r.open[c]
	r.mu.Unlock()
	if closeIt != nil {
		closeIt()
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
	for _, c := range r.open {
		closers = append(closers, c)
	}
	r.mu.Unlock()
	for _, c := range closers {
		c()
	}
}
