package rehearsal

import (
	"net/netip"
	"sync"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

const (
	// For so long an end is remembered at least, and for twice as long at most; the bound is of those in that time.
	rememberedFor = 5 * time.Second
	remembered    = 1024
)

// Ended holds what TCP connections knew at their ends that offered HTTP/3, for some seconds: Firefox closes its own as soon as it has a QUIC
// connection and all that it asked for.
type Ended struct {
	mu            sync.Mutex
	recent, older map[netip.Addr]end // the latest of each client
	turned        time.Time          // when recent was empty
}

// NewEnded makes one for Run, which has it forget.
func NewEnded() *Ended { return &Ended{recent: map[netip.Addr]end{}} }

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
	if _, known := e.recent[c.Client()]; known || len(e.recent) < remembered {
		e.recent[c.Client()] = end{now, r}
	}
}

// forget forgets what is old.
func (e *Ended) forget(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if now.Sub(e.turned) >= rememberedFor {
		e.recent, e.older, e.turned = map[netip.Addr]end{}, e.recent, now
	}
}

// last returns when the client's latest connection ended, and what it knew.
func (e *Ended) last(client netip.Addr) (at time.Time, r connpath.Reading, is bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	one, is := e.recent[client]
	if !is {
		one, is = e.older[client]
	}
	return one.at, one.Reading, is
}
