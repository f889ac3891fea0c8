package admission

import (
	"net/netip"
	"time"
)

const (
	// longAfter is the age from which on a request counts as long, as a websocket does from its beginning. Most pages are done.
	longAfter = 10 * time.Second
	// Long requests may take this part of all places, and those of one client this part of what a client may take.
	longShare       = 2
	longClientShare = 4
	// The least time between two searches for requests that have become long.
	searchPause = 100 * time.Millisecond
)

// AdmitLong takes a place for a request that will last, or returns ErrLong. The caller must call release once.
func (d *Desk) AdmitLong(client netip.Prefix) (release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full() || !d.roomForLong(client) {
		d.refused++
		return nil, ErrLong
	}
	d.long.Add(client)
	s := &seat{client: client, long: true}
	return func() { d.leave(s) }, nil
}

func (d *Desk) roomForLong(client netip.Prefix) bool {
	return d.long.all < max(d.limits.Total/longShare, 1) && d.long.Room(client, max(d.limits.PerClient/longClientShare, 1))
}

// findLong moves the requests that have become long into the share of those, as far as there is room.
func (d *Desk) findLong() {
	now := d.now()
	if now.Sub(d.searched) < searchPause {
		return
	}
	d.searched = now
	moved := false
	for next := d.brief.Front(); next != nil && now.Sub(next.Value.(*seat).began) >= longAfter; {
		s := next.Value.(*seat)
		next = next.Next()
		if d.roomForLong(s.client) {
			d.brief.Remove(s.at)
			s.long = true
			d.inFlight.Remove(s.client)
			d.long.Add(s.client)
			moved = true
		}
	}
	if moved {
		d.serve(func(netip.Prefix) bool { return true })
	}
}
