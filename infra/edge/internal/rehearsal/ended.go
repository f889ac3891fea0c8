package rehearsal

import (
	"maps"
	"net/netip"
	"sync"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

const (
	// For so long an end is remembered; the bound is of those in that time.
	rememberedFor = 5 * time.Second
	remembered    = 1024
)

// Ended holds what TCP connections knew at their ends that offered HTTP/3, for some seconds: Firefox closes its own as soon as it has a QUIC
// connection and all that it asked for.
type Ended struct {
	mu   sync.Mutex
	ends map[netip.Addr]end // the latest of each client
}

// NewEnded makes one for Run, which has it forget.
func NewEnded() *Ended { return &Ended{ends: map[netip.Addr]end{}} }

type end struct {
	at time.Time
	connpath.Reading
}

// Note notes a connection that ends, while it can still be read. e may be nil: nobody wants to know.
func (e *Ended) Note(c *connpath.Connection, now time.Time) {
	if e == nil || c.Transport != connpath.TCP || !c.Offered() {
		return
	}
	r, ok := c.Read()
	if !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.ends[c.Client()]; known || len(e.ends) < remembered {
		e.ends[c.Client()] = end{now, r}
	}
}

// forget forgets what is old.
func (e *Ended) forget(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.ends, func(_ netip.Addr, one end) bool { return now.Sub(one.at) >= rememberedFor })
}

// last returns when the client's latest connection ended, and what it knew.
func (e *Ended) last(client netip.Addr) (at time.Time, r connpath.Reading, is bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one, is := e.ends[client]
	return one.at, one.Reading, is
}
