package connpath

import (
	"sync"
	"time"
)

// busy adds up the time in which at least one response was under way on a connection, until its client had all of it: what a program has
// handed to the kernel can wait there for as long as the page takes, while a QUIC library takes bytes only as it sends them. It costs a lock at
// each end of a request. Its zero value has seen none.
type busy struct {
	// sending is a clock that runs while the transport has something under way. nil: the transport has none.
	sending func() time.Duration
	// rtt is for how long what was sent last is under way where no clock says it. nil: nobody knows.
	rtt func() time.Duration

	mu    sync.Mutex
	under int // requests under way
	past  time.Duration
	since time.Time // up to when past counts, or when the first of those under way began

	// What the last response left under way, when it had been handed over: the clock's time, or a round trip.
	rests bool
	left  time.Duration
}

// begin notes that a request begins.
func (b *busy) begin(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.under == 0 {
		b.past += b.tail(now)
		b.rests = false
		// Who read the clock first may come second: no moment counts twice.
		if now.After(b.since) {
			b.since = now
		}
	}
	b.under++
}

// end notes that a request was answered, or given up.
func (b *busy) end(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under--
	if b.under > 0 {
		return
	}
	if now.After(b.since) {
		b.past += now.Sub(b.since)
		b.since = now
	}
	switch {
	case b.sending != nil:
		b.rests, b.left = true, b.sending()
	case b.rtt != nil:
		b.rests, b.left = true, b.rtt()
	}
}

// tail returns for how long the last response was under way after it had been handed over.
func (b *busy) tail(now time.Time) time.Duration {
	if !b.rests {
		return 0
	}
	tail := b.left
	if b.sending != nil {
		tail = b.sending() - b.left
	}
	return max(0, min(tail, now.Sub(b.since)))
}

// until returns the time until now. What is under way counts.
func (b *busy) until(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.under == 0 {
		return b.past + b.tail(now)
	}
	return b.past + max(0, now.Sub(b.since))
}

// restart forgets the time until now.
func (b *busy) restart(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past, b.rests = 0, false
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
