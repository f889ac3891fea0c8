package connpath

import (
	"sync"
	"time"
)

// busy adds up the time in which at least one response was under way on a connection. It costs a lock at each end of a
// request. Its zero value has seen none.
type busy struct {
	mu    sync.Mutex
	under int // requests under way
	past  time.Duration
	since time.Time // up to when past counts, or when the first of those under way began
}

// begin notes that a request begins.
func (b *busy) begin(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	// Who read the clock first may come second: no moment counts twice.
	if b.under == 0 && now.After(b.since) {
		b.since = now
	}
	b.under++
}

// end notes that a request was answered, or given up.
func (b *busy) end(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under--
	if b.under == 0 && now.After(b.since) {
		b.past += now.Sub(b.since)
		b.since = now
	}
}

// until returns the time until now. What is under way counts.
func (b *busy) until(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.under == 0 {
		return b.past
	}
	return b.past + max(0, now.Sub(b.since))
}

// restart forgets the time until now.
func (b *busy) restart(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past = 0
	if b.under > 0 && now.After(b.since) {
		b.since = now
	}
}

// restsSince returns when the last request ended; now while one is under way, and the zero time where none ever was.
func (b *busy) restsSince(now time.Time) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.under > 0 {
		return now
	}
	return b.since
}
