// Package admission bounds the requests in flight, in all and for each client, so that the server behind never has more of
// them than it has descriptors for. It knows no HTTP, and imports only the standard library.
package admission

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"
)

var (
	// ErrClient: this client has its share of requests in flight.
	ErrClient = errors.New("too many requests of this client at a time")
	// ErrFull: all places are taken, and none came free in time.
	ErrFull = errors.New("too many requests at a time")
)

// Limits are the bounds in force. They may change while requests are in flight.
type Limits struct {
	Total     int // requests in flight
	PerClient int // of them, those of one client
	// Reserved places are there beside Total, for requests that say so. One client gets a quarter of them, at least one.
	Reserved int
}

// reservedShare is the part of the reserved places that one client may take.
const reservedShare = 4

// Desk admits requests. A request for which there is no place waits for one, for at most Wait, in the order of arrival; no
// more requests wait than may be in flight.
type Desk struct {
	// Wait is how long a request may wait for a place.
	Wait time.Duration

	mu        sync.Mutex
	limits    Limits
	inFlight  int
	clients   map[netip.Prefix]int // in flight or waiting
	reserved  map[netip.Prefix]int // in flight, in reserved places
	inReserve int
	queue     []*place
	refused   uint64
}

// place is one that a request waits for; closed once it has it.
type place struct{ taken chan struct{} }

// NewDesk makes a desk that admits within limits.
func NewDesk(limits Limits, wait time.Duration) *Desk {
	return &Desk{Wait: wait, limits: limits, clients: map[netip.Prefix]int{}, reserved: map[netip.Prefix]int{}}
}

// SetLimits changes the bounds for what comes from now on.
func (d *Desk) SetLimits(limits Limits) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limits = limits
	d.serve()
}

// Limits returns the bounds in force.
func (d *Desk) Limits() Limits {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.limits
}

// Counts returns how many requests are in flight, reserved places included, how many wait, and how many have been refused so far.
func (d *Desk) Counts() (inFlight, waiting int, refused uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inFlight + d.inReserve, len(d.queue), d.refused
}

// Admit takes a place for a request of this client, whose release the caller must call once. Where no place is free for it, and
// mayReserve says so, it takes a reserved place. The error is ErrClient, ErrFull, or that of ctx.
func (d *Desk) Admit(ctx context.Context, client netip.Prefix, mayReserve func() bool) (release func(), err error) {
	p, err := d.enter(client)
	if p == nil && err == nil {
		return func() { d.leave(client) }, nil
	}
	if mayReserve() && d.reserve(client, p) {
		return func() { d.leaveReserve(client) }, nil
	}
	if err != nil {
		d.refuse()
		return nil, err
	}
	release = func() { d.leave(client) }
	timer := time.NewTimer(d.Wait)
	defer timer.Stop()
	select {
	case <-p.taken:
		return release, nil
	case <-timer.C:
		err = ErrFull
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !d.giveUp(client, p) {
		return release, nil // it came at the same moment
	}
	return nil, err
}

// enter takes a place, or one in the queue.
func (d *Desk) enter(key netip.Prefix) (*place, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clients[key] >= d.limits.PerClient {
		return nil, ErrClient
	}
	if d.inFlight < d.limits.Total {
		d.inFlight++
		d.clients[key]++
		return nil, nil
	}
	if len(d.queue) >= d.limits.Total {
		return nil, ErrFull
	}
	p := &place{make(chan struct{})}
	d.queue = append(d.queue, p)
	d.clients[key]++
	return p, nil
}

// giveUp takes p out of the queue; false where it has its place already.
func (d *Desk) giveUp(key netip.Prefix, p *place) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.unqueue(key, p) {
		return false
	}
	d.refused++
	return true
}

// unqueue takes p out of the queue; false where it is not there.
func (d *Desk) unqueue(key netip.Prefix, p *place) bool {
	for i, other := range d.queue {
		if other == p {
			d.queue = append(d.queue[:i], d.queue[i+1:]...)
			d.forget(key)
			return true
		}
	}
	return false
}

// reserve takes a reserved place, and gives up p, which waits for another one; p may be nil.
func (d *Desk) reserve(key netip.Prefix, p *place) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inReserve >= d.limits.Reserved || d.reserved[key] >= max(d.limits.Reserved/reservedShare, 1) {
		return false
	}
	if p != nil && !d.unqueue(key, p) {
		return false // its place came at the same moment
	}
	d.inReserve++
	d.reserved[key]++
	return true
}

func (d *Desk) leaveReserve(key netip.Prefix) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inReserve--
	if d.reserved[key]--; d.reserved[key] <= 0 {
		delete(d.reserved, key)
	}
}

func (d *Desk) refuse() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused++
}

func (d *Desk) leave(key netip.Prefix) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inFlight--
	d.forget(key)
	d.serve()
}

// serve gives free places to those who wait.
func (d *Desk) serve() {
	for len(d.queue) > 0 && d.inFlight < d.limits.Total {
		close(d.queue[0].taken)
		d.queue[0] = nil
		d.queue = d.queue[1:]
		d.inFlight++
	}
}

func (d *Desk) forget(key netip.Prefix) {
	if d.clients[key]--; d.clients[key] <= 0 {
		delete(d.clients, key)
	}
}
