// Package admission bounds the requests in flight, in all and for each client, so that the server behind never has more of
// them than it has descriptors for. It knows no HTTP, and imports only the standard library.
package admission

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"
)

var (
	// ErrClient: this client has its share of requests in flight, and of those that wait.
	ErrClient = errors.New("too many requests of this client at a time")
	// ErrFull: all places are taken, and none came free in time.
	ErrFull = errors.New("too many requests at a time")
	// ErrLong: there is no place for another websocket.
	ErrLong = errors.New("too many websockets")
)

// Limits are the bounds in force. They may change while requests are in flight.
type Limits struct {
	Total     int // requests in flight
	PerClient int // of them, those of one client
	// Reserved places are there beside Total, for requests that say so. One client gets a quarter of them, at least one.
	Reserved int
}

const (
	// In flight and waiting together, a client may have this many times what it may have in flight.
	withWaiting = 4
	// reservedShare is the part of the reserved places that one client may take.
	reservedShare = 4
	// Websockets may take this part of all places, and those of one client this part of all places, or a few.
	longShare       = 2
	longClientShare = 16
	fewLong         = 16
	// A request that waits only for others of its own client waits for this many times Wait.
	ownPatience = 12
)

// Desk admits requests. A request for which there is no place waits for one, in the order of arrival: for at most Wait, and longer
// where only its client's own requests are in its way. No more requests wait than may be in flight. Websockets last, so they have
// a share of their own, and leave places to others.
type Desk struct {
	// Wait is how long a request may wait for a place.
	Wait time.Duration

	mu     sync.Mutex
	limits Limits
	// Places of requests, of websockets, of those that wait, and reserved ones.
	inFlight, long, waiting, reserved Tally

	queue   []*place
	refused uint64
}

// place is one that a request waits for; taken is closed once it has it.
type place struct {
	client   netip.Prefix
	patience time.Duration
	taken    chan struct{}
}

// NewDesk makes a desk that admits within limits.
func NewDesk(limits Limits, wait time.Duration) *Desk {
	return &Desk{Wait: wait, limits: limits, inFlight: NewTally(), long: NewTally(), waiting: NewTally(), reserved: NewTally()}
}

// SetLimits changes the bounds for what comes from now on.
func (d *Desk) SetLimits(limits Limits) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limits = limits
	d.serve(func(netip.Prefix) bool { return true })
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
	return d.inFlight.all + d.long.all + d.reserved.all, len(d.queue), d.refused
}

// Admit takes a place for a request of this client, whose release the caller must call once. Where no place is free for it, and
// mayReserve says so, it takes a reserved place. The error is ErrClient, ErrFull, or that of ctx.
func (d *Desk) Admit(ctx context.Context, client netip.Prefix, mayReserve func() bool) (release func(), err error) {
	release = func() { d.leave(&d.inFlight, client) }
	p, err := d.enter(client)
	if p == nil && err == nil {
		return release, nil
	}
	if mayReserve() && d.reserve(client, p) {
		return func() { d.leave(&d.reserved, client) }, nil
	}
	if err == nil {
		timer := time.NewTimer(p.patience)
		defer timer.Stop()
		select {
		case <-p.taken:
			return release, nil
		case <-timer.C:
			err = ErrFull
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p != nil && !d.unqueue(p) {
		return release, nil // it came at the same moment
	}
	d.refused++
	return nil, err
}

// AdmitLong takes a place for a websocket, or returns ErrLong. The caller must call release once.
func (d *Desk) AdmitLong(client netip.Prefix) (release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full() || d.long.all >= max(d.limits.Total/longShare, 1) || !d.long.Room(client, max(d.limits.Total/longClientShare, fewLong)) {
		d.refused++
		return nil, ErrLong
	}
	d.long.Add(client)
	return func() { d.leave(&d.long, client) }, nil
}

// enter takes a place (nil), or returns one in the queue.
func (d *Desk) enter(client netip.Prefix) (*place, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.sit(client):
		return nil, nil
	case d.inFlight.clients[client]+d.waiting.clients[client] >= withWaiting*d.limits.PerClient:
		return nil, ErrClient
	case len(d.queue) >= d.limits.Total:
		return nil, ErrFull
	}
	p := &place{client: client, patience: d.Wait, taken: make(chan struct{})}
	if !d.full() {
		p.patience *= ownPatience
	}
	d.queue = append(d.queue, p)
	d.waiting.Add(client)
	return p, nil
}

// sit takes a place in flight, where one is free for this client.
func (d *Desk) sit(client netip.Prefix) bool {
	if d.full() || !d.inFlight.Room(client, d.limits.PerClient) {
		return false
	}
	d.inFlight.Add(client)
	return true
}

// unqueue takes p out of the queue; false where it is not there.
func (d *Desk) unqueue(p *place) bool {
	i := slices.Index(d.queue, p)
	if i < 0 {
		return false
	}
	d.queue = slices.Delete(d.queue, i, i+1)
	d.waiting.Remove(p.client)
	return true
}

// reserve takes a reserved place, and gives up p, which waits for another one; p may be nil.
func (d *Desk) reserve(client netip.Prefix, p *place) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reserved.all >= d.limits.Reserved || !d.reserved.Room(client, max(d.limits.Reserved/reservedShare, 1)) {
		return false
	}
	if p != nil && !d.unqueue(p) {
		return false // its place came at the same moment
	}
	d.reserved.Add(client)
	return true
}

func (d *Desk) leave(places *Tally, client netip.Prefix) {
	d.mu.Lock()
	defer d.mu.Unlock()
	wasFull := d.full()
	places.Remove(client)
	// Where there was room for others already, it is only those of this client, or of its network, that wait for this place.
	d.serve(func(other netip.Prefix) bool { return wasFull || Akin(other, client) })
}

func (d *Desk) full() bool { return d.inFlight.all+d.long.all >= d.limits.Total }

// serve gives free places to those who wait and may have one.
func (d *Desk) serve(among func(client netip.Prefix) bool) {
	if len(d.queue) == 0 || d.full() {
		return
	}
	d.queue = slices.DeleteFunc(d.queue, func(p *place) bool {
		if !among(p.client) || !d.sit(p.client) {
			return false
		}
		d.waiting.Remove(p.client)
		close(p.taken)
		return true
	})
}
