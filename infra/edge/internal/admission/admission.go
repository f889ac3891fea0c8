// Package admission bounds the requests in flight, in all and for each client, so that the server behind never has more of
// them than it has descriptors for. It knows no HTTP, and imports only the standard library.
package admission

import (
	"container/list"
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
	// ErrLong: there is no place for another request that lasts.
	ErrLong = errors.New("too many requests that last")
)

// Limits are the bounds in force. They may change while requests are in flight.
type Limits struct {
	Total     int // requests in flight
	PerClient int // of them, those of one client, and those of it that wait
	// AtOnce is how many of one client may be in flight without counting as long; 0: PerClient. More of them wait.
	AtOnce int
	// Reserved places are there beside Total, for requests that say so. One client gets a quarter of them, at least one.
	Reserved int
}

const (
	// reservedShare is the part of the reserved places that one client may take.
	reservedShare = 4
	// A request that waits only for others of its own client waits for this many times Wait: their end, or their age, gives it a place.
	ownPatience = 12
)

func (l Limits) atOnce() int {
	if l.AtOnce == 0 {
		return l.PerClient
	}
	return min(l.AtOnce, l.PerClient)
}

// Desk admits requests. A request for which there is no place waits for one, in the order of arrival: for at most Wait, and longer
// where only its client's own requests are in its way. No more requests wait than may be in flight.
//
// Requests that last have a share of their own, so that they leave places to others. While there is room in that share, a request
// gives its place back when it has lasted for longAfter; the desk looks for such requests when somebody needs a place.
type Desk struct {
	// Wait is how long a request may wait for a place.
	Wait time.Duration

	mu       sync.Mutex
	now      func() time.Time
	limits   Limits
	brief    list.List // of seats that are not long, in the order in which they began
	searched time.Time
	// Places of requests that are not long, of those that are, of those that wait, and reserved ones.
	inFlight, long, waiting, reserved Tally

	queue   []*place
	refused uint64
}

// place is one that a request waits for; closed once it has it.
type place struct {
	client   netip.Prefix
	patience time.Duration
	taken    chan struct{}
	seat     *seat
}

// seat is a place in flight.
type seat struct {
	client netip.Prefix
	began  time.Time
	long   bool
	at     *list.Element // in brief
}

// NewDesk makes a desk that admits within limits.
func NewDesk(limits Limits, wait time.Duration) *Desk {
	return &Desk{
		Wait: wait, now: time.Now, limits: limits,
		inFlight: NewTally(), long: NewTally(), waiting: NewTally(), reserved: NewTally(),
	}
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
	s, p, err := d.enter(client)
	if s != nil {
		return func() { d.leave(s) }, nil
	}
	if mayReserve() && d.reserve(client, p) {
		return func() { d.leaveReserve(client) }, nil
	}
	if err != nil {
		d.refuse()
		return nil, err
	}
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case <-p.taken:
		return func() { d.leave(p.seat) }, nil
	case <-timer.C:
		err = ErrFull
	case <-ctx.Done():
		err = ctx.Err()
	}
	if !d.giveUp(p) {
		return func() { d.leave(p.seat) }, nil // it came at the same moment
	}
	return nil, err
}

// enter takes a place, or one in the queue.
func (d *Desk) enter(client netip.Prefix) (*seat, *place, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sit(client); s != nil {
		return s, nil, nil
	}
	d.findLong()
	if s := d.sit(client); s != nil {
		return s, nil, nil
	}
	if d.inFlight.clients[client]+d.waiting.clients[client] >= d.limits.PerClient {
		return nil, nil, ErrClient
	}
	if len(d.queue) >= d.limits.Total {
		return nil, nil, ErrFull
	}
	p := &place{client: client, patience: d.Wait, taken: make(chan struct{})}
	if !d.full() {
		p.patience *= ownPatience
	}
	d.queue = append(d.queue, p)
	d.waiting.Add(client)
	return nil, p, nil
}

// sit takes a place in flight; nil where none is free for this client.
func (d *Desk) sit(client netip.Prefix) *seat {
	if d.full() || !d.inFlight.Room(client, d.limits.atOnce()) {
		return nil
	}
	s := &seat{client: client, began: d.now()}
	s.at = d.brief.PushBack(s)
	d.inFlight.Add(client)
	return s
}

// giveUp takes p out of the queue; false where it has its place already.
func (d *Desk) giveUp(p *place) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.findLong()
	if !d.unqueue(p) {
		return false
	}
	d.refused++
	return true
}

// unqueue takes p out of the queue; false where it is not there.
func (d *Desk) unqueue(p *place) bool {
	for i, other := range d.queue {
		if other == p {
			d.queue = append(d.queue[:i], d.queue[i+1:]...)
			d.waiting.Remove(p.client)
			return true
		}
	}
	return false
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

func (d *Desk) leaveReserve(client netip.Prefix) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reserved.Remove(client)
}

func (d *Desk) refuse() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused++
}

func (d *Desk) leave(s *seat) {
	d.mu.Lock()
	defer d.mu.Unlock()
	wasFull := d.full()
	if s.long {
		d.long.Remove(s.client)
	} else {
		d.brief.Remove(s.at)
		d.inFlight.Remove(s.client)
	}
	// Where there was room for others already, it is only those of this client, or of its network, that wait for this place.
	d.serve(func(client netip.Prefix) bool { return wasFull || Akin(client, s.client) })
}

func (d *Desk) full() bool { return d.inFlight.all+d.long.all >= d.limits.Total }

// serve gives free places to those who wait and may have one.
func (d *Desk) serve(among func(client netip.Prefix) bool) {
	if len(d.queue) == 0 || d.full() {
		return
	}
	left := d.queue[:0]
	for _, p := range d.queue {
		if among(p.client) {
			p.seat = d.sit(p.client)
		}
		if p.seat == nil {
			left = append(left, p)
			continue
		}
		d.waiting.Remove(p.client)
		close(p.taken)
	}
	clear(d.queue[len(left):])
	d.queue = left
}
