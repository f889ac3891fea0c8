// Package crowd bounds the open connections: in all, of one client and of one network. Of this module it imports admission (to count
// clients) and connpath.
package crowd

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/admission"
)

const (
	// The part of all connections that one client may have. An IPv6 /48 may have twice as many.
	clientShare = 4
	// Beyond a bound so large a part of it is closed at once, so that not every newcomer makes the crowd look at all.
	closedAtOnce = 16
)

// Crowd closes connections where there are too many.
type Crowd struct {
	total int // 0: no bound

	mu sync.Mutex
	// counted are the open connections, but for those that were chosen to be closed. Each counts for the client that it began with: over
	// QUIC it may move.
	counted map[*connpath.Connection]netip.Prefix
	tally   admission.Tally
	closed  uint64
}

// New makes a crowd of at most total connections; 0: as many as come.
func New(total int) *Crowd {
	return &Crowd{total: total, counted: map[*connpath.Connection]netip.Prefix{}, tally: admission.NewTally()}
}

// Add counts a newcomer. Where there are too many connections, those at rest for longest are closed; where all are answering, the newcomer.
func (c *Crowd) Add(newcomer *connpath.Connection) {
	client := admission.Client(newcomer.Client())
	c.mu.Lock()
	defer c.mu.Unlock()
	chosen, crowded := c.choose(client)
	if crowded && len(chosen) == 0 {
		chosen = append(chosen, newcomer)
	} else {
		c.counted[newcomer] = client
		c.tally.Add(client)
	}
	c.closed += uint64(len(chosen))
	for _, one := range chosen {
		go one.Close() // which calls Remove
	}
}

// Remove counts a connection no more.
func (c *Crowd) Remove(conn *connpath.Connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(conn)
}

func (c *Crowd) forget(conn *connpath.Connection) {
	if client, is := c.counted[conn]; is {
		delete(c.counted, conn)
		c.tally.Remove(client)
	}
}

// Closed returns how many connections were closed because there were too many.
func (c *Crowd) Closed() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// choose says whether there is no room for a newcomer of the client, and returns the connections to close for it: those of the client, of
// its network, or of all, that have been at rest for longest. Where all of those are answering, there are none.
func (c *Crowd) choose(client netip.Prefix) (chosen []*connpath.Connection, crowded bool) {
	share := max(c.total/clientShare, 1)
	switch {
	case c.total == 0:
		return nil, false
	case client.IsValid() && c.tally.Of(client) >= share:
		return c.longestAtRest(func(other netip.Prefix) bool { return other == client }, share), true
	case client.IsValid() && !c.tally.Room(client, share):
		return c.longestAtRest(func(other netip.Prefix) bool { return admission.Akin(other, client) }, share), true
	case c.tally.All() >= c.total:
		return c.longestAtRest(func(netip.Prefix) bool { return true }, c.total), true
	}
	return nil, false
}

// longestAtRest chooses among the connections, of which there may be most. They count no more.
func (c *Crowd) longestAtRest(among func(netip.Prefix) bool, most int) []*connpath.Connection {
	now := time.Now()
	since := map[*connpath.Connection]time.Time{}
	var all []*connpath.Connection
	for conn, client := range c.counted {
		if at := conn.RestsSince(now); among(client) && at.Before(now) {
			since[conn] = at
			all = append(all, conn)
		}
	}
	slices.SortFunc(all, func(a, b *connpath.Connection) int { return since[a].Compare(since[b]) })
	chosen := all[:min(most/closedAtOnce+1, len(all))]
	for _, conn := range chosen {
		c.forget(conn)
	}
	return chosen
}
