// Package unread ends the responses whose clients do not take them. While a client does not read, the server behind holds as
// much of the response as it reads ahead. Of this module it imports admission (for what one
// client is), connpath and errorlog.
package unread

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/errorlog"
)

const (
	// Between two looks at the responses. What waits for less time does not count.
	interval = 50 * time.Millisecond
	// Looks at the responses between two looks at the connections. Nothing about a connection is decided within a second.
	connectionsEvery = 20
	// A response may have to wait for others on its connection. From this multiple of Timeout on, that is no excuse.
	alone = 4
)

// Limits are what a client may do.
type Limits struct {
	// Timeout is how long a response, or a connection, may wait for a client that takes less than Rate bytes a second.
	Timeout time.Duration
	Rate    int
	// Total is how many responses may wait at a time for clients who do not read, and PerClient how many of one client.
	Total, PerClient int
}

// Watch looks at all responses, and at all TCP connections. Run has to run for it to notice anything.
type Watch struct {
	limits   Limits
	registry *connpath.Registry
	log      *errorlog.Log

	mu      sync.Mutex
	first   *Response // of a doubly linked list
	waiting []*Response

	connections []*connpath.Connection // a buffer
	sockets     map[*connpath.Connection]*wait
}

// NewWatch makes a watch of the responses that Add enters, and of the connections in registry.
func NewWatch(limits Limits, registry *connpath.Registry, log *errorlog.Log) *Watch {
	return &Watch{limits: limits, registry: registry, log: log, sockets: map[*connpath.Connection]*wait{}}
}

// Response is one response in progress. The zero value has no write under way.
type Response struct {
	Conn   *connpath.Connection
	Stream Resetter

	writes connpath.Counter
	wait   wait
	ended  bool
	client netip.Prefix

	previous, next *Response
}

// Resetter ends a response alone: its stream, where a connection carries several.
type Resetter interface{ Reset() }

// Begin says that bytes wait for the client from now on.
func (r *Response) Begin() { r.writes.Begin() }

// End says that the client's transport took them.
func (r *Response) End() { r.writes.End() }

// Add enters a response. Until Remove the watch may end it.
func (w *Watch) Add(r *Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.next = w.first
	if w.first != nil {
		w.first.previous = r
	}
	w.first = r
}

// Remove takes a response out. The watch does not touch it afterwards.
func (w *Watch) Remove(r *Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.previous == nil {
		w.first = r.next
	} else {
		r.previous.next = r.next
	}
	if r.next != nil {
		r.next.previous = r.previous
	}
}

// Run looks until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if n%connectionsEvery == 0 {
				w.lookAtConnections(now)
			}
			w.lookAtResponses(now)
		}
	}
}

// lookAtConnections ends the TCP connections whose sockets wait for too slow a client: those of HTTP/1.1 and websockets, and
// those of HTTP/2 that take nothing at all.
func (w *Watch) lookAtConnections(now time.Time) {
	w.connections = w.registry.Snapshot(w.connections[:0])
	open := make(map[*connpath.Connection]*wait, len(w.sockets))
	for _, c := range w.connections {
		at, pending := c.Writes.Pending()
		if !pending || c.Abort == nil {
			continue
		}
		s := w.sockets[c]
		if s == nil {
			s = &wait{}
		}
		open[c] = s
		if s.look(at, now, c); s.tooSlow(now, c, w.limits) {
			w.log.Report("client", fmt.Sprintf("a client did not take its bytes for %s: its connection is closed", w.limits.Timeout))
			c.Abort()
		}
	}
	w.sockets = open
	clear(w.connections) // so that it keeps no closed connections in memory
}

// lookAtResponses ends the responses that wait for too slow a client, and those above the limits.
func (w *Watch) lookAtResponses(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = w.waiting[:0]
	for r := w.first; r != nil; r = r.next {
		at, pending := r.writes.Pending()
		if !pending || r.ended || r.wait.look(at, now, r.Conn) {
			continue
		}
		if r.wait.tooSlow(now, r.Conn, w.limits) || now.Sub(r.wait.began) >= alone*w.limits.Timeout {
			w.log.Report("client", fmt.Sprintf("a client did not take a response within %s: the response is ended", w.limits.Timeout))
			r.endNow()
			continue
		}
		w.waiting = append(w.waiting, r)
	}
	w.keepLimits(now)
	clear(w.waiting)
}

// keepLimits ends responses until as many wait as may: first of the clients above their share, then of the client that has the
// most, each time the one that waits longest. It ends those alone whose clients do not read. All that are in flight are bounded
// elsewhere (internal/admission): where many clients read slowly, new requests wait or are refused.
func (w *Watch) keepLimits(now time.Time) {
	// A response is not counted at its first look. So a list below the share of one client needs no counting.
	if len(w.waiting) <= min(w.limits.PerClient, w.limits.Total) {
		return
	}
	onConnection := map[*connpath.Connection]int{}
	for _, r := range w.waiting {
		onConnection[r.Conn]++
	}
	unread := map[netip.Prefix][]*Response{}
	have := map[netip.Prefix]int{}
	for _, r := range w.waiting {
		if !r.client.IsValid() {
			r.client = admission.Client(r.Conn.Client())
		}
		have[r.client]++
		if r.wait.notRead(now, r.Conn, w.limits.Rate, onConnection[r.Conn]) {
			unread[r.client] = append(unread[r.client], r)
		}
	}
	ended, left := 0, len(w.waiting)
	endOf := func(client netip.Prefix) {
		unread[client][0].endNow()
		if unread[client] = unread[client][1:]; len(unread[client]) == 0 {
			delete(unread, client)
		}
		have[client]--
		ended++
		left--
	}
	for client, responses := range unread {
		slices.SortFunc(responses, func(a, b *Response) int { return a.wait.began.Compare(b.wait.began) })
		for have[client] > w.limits.PerClient && len(unread[client]) > 0 {
			endOf(client)
		}
	}
	for left > w.limits.Total && len(unread) > 0 {
		most := netip.Prefix{}
		for client := range unread {
			if c := cmp.Compare(have[client], have[most]); c > 0 || (c == 0 && client.Compare(most) < 0) {
				most = client
			}
		}
		endOf(most)
	}
	if ended > 0 {
		w.log.Report("client", fmt.Sprintf("%d responses waited for their clients: %d that nobody read are ended", len(w.waiting), ended))
	}
}

// endNow ends the response. Where its connection's socket waits too, nothing but the end of the connection reaches the client.
func (r *Response) endNow() {
	r.ended = true
	if r.Conn != nil && r.Conn.Abort != nil {
		if _, pending := r.Conn.Writes.Pending(); pending {
			r.Conn.Abort()
			return
		}
	}
	r.Stream.Reset()
}
