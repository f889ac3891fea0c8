package visitor

import (
	"net/netip"
	"slices"
	"time"

	"adaptive-h3/infra/edge/internal/admission"
)

const (
	// The part of all connections that one client may have. An IPv6 /48 may have twice as many.
	clientShare = 4
	// Beyond a bound so large a part of it is closed at once, so that not every newcomer makes the registry look at all.
	closedAtOnce = 16
)

// entry is one open connection. It counts for the client that it began with: over QUIC it may move.
type entry struct {
	close   func()
	client  netip.Prefix
	closing bool // chosen to be closed, and counted no more
}

// Bound lets at most so many connections be open; 0: as many as come. It comes before the first of them.
func (r *Registry) Bound(total int) { r.total = total }

// crowded returns the connections to close so that there is room for the newcomer e: those of its client, of its network, or of all, that
// have been at rest for longest. Where all of those are answering, it is the newcomer.
func (r *Registry) crowded(e *entry) []*entry {
	if r.total == 0 {
		return nil
	}
	share := max(r.total/clientShare, 1)
	var chosen []*entry
	switch {
	case e.client.IsValid() && r.counted.Of(e.client) >= share:
		chosen = r.longestAtRest(func(o *entry) bool { return o.client == e.client }, share)
	case e.client.IsValid() && !r.counted.Room(e.client, share):
		chosen = r.longestAtRest(func(o *entry) bool { return admission.Akin(o.client, e.client) }, share)
	case r.counted.All() >= r.total:
		chosen = r.longestAtRest(func(*entry) bool { return true }, r.total)
	default:
		return nil
	}
	if len(chosen) == 0 {
		e.closing = true
		chosen = append(chosen, e)
	}
	return chosen
}

// longestAtRest chooses among the connections, of which there may be most. They count no more.
func (r *Registry) longestAtRest(among func(*entry) bool, most int) []*entry {
	type resting struct {
		e     *entry
		since time.Time
	}
	var all []resting
	now := time.Now()
	for c, e := range r.open {
		if e.closing || !among(e) {
			continue
		}
		if since := c.RestsSince(now); since.Before(now) {
			all = append(all, resting{e, since})
		}
	}
	slices.SortFunc(all, func(a, b resting) int { return a.since.Compare(b.since) })
	chosen := make([]*entry, 0, most/closedAtOnce+1)
	for _, one := range all[:min(most/closedAtOnce+1, len(all))] {
		one.e.closing = true
		r.counted.Remove(one.e.client)
		chosen = append(chosen, one.e)
	}
	return chosen
}
