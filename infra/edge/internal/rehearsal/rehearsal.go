// Package rehearsal finds out what a network does to UDP before a page depends on it. Of this module it imports connpath.
//
// A browser that is offered HTTP/3 opens a QUIC connection beside the page that brought the offer. Once that is open, the page's last files
// go over it, and else the next page is the first. Where the network polices UDP, they would take seconds, and only then show why. So the
// handshake waits until the page is there (Waits), and then the connection carries as much as a small page, for nobody to read (Run). What
// was lost of it is sampled with what was lost over TCP: the worker compares the two, and takes the offer back with the next page's first
// response. Firefox, whose handshake cannot wait, is offered HTTP/3 with a file (see package proxy), and closes its TCP connection soon (Ended).
package rehearsal

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

const (
	interval = 250 * time.Millisecond
	// For so long nothing was asked and all was there: the visitor reads. People open the next page a second later at the soonest. What goes
	// out beside a page waits in its queue, and slows it down. And quic-go, which takes the longer round trips for its own doing, ends its slow
	// start at 32 packets: on a slow line the next page takes twice its time.
	rest = 300 * time.Millisecond
	// So long a QUIC connection is there: who opened it to ask at once has asked by then.
	opened = 100 * time.Millisecond
	// A hundred packets, and small ones: of so many a network that drops 8 % of UDP loses twenty, and one that holds UDP to 5 Mbit/s after a
	// burst of 50 kB fifteen (6 to 22, at 20 Mbit/s and 60 ms).
	bytes = 128 << 10
	// They follow where more of those were lost than of TCP's, and make it 1 MB: from 900 packets a worker tells a loss of 2 % from none 29
	// times of 30, from 375 two times of three.
	moreBytes = 896 << 10
	// QUIC's loss has to be so many times TCP's: where both lose alike, HTTP/3 is the faster one.
	unlike = 3

	// An address where more connections have had a request, or that has more of them, is shared: one visitor's page says nothing about
	// another's handshake. A browser asks on one or two, and may have opened some more.
	used, most = 2, 8
)

// Waits says whether a QUIC handshake of a client should wait: HTTP/3 was offered over TCP, and a page is on its way there. It is for a
// server's reader of packets: it neither waits nor looks at other clients.
func Waits(registry *connpath.Registry, client netip.Addr, now time.Time) bool {
	offered := false
	var asked []*connpath.Connection
	for _, c := range registry.From(client, most) {
		if c.Transport != connpath.TCP {
			return false // a handshake was answered before
		}
		// A websocket never rests, and is no page.
		if c.Answering() && !c.Upgraded.Load() {
			asked = append(asked, c)
			offered = offered || c.Offered()
		}
	}
	return offered && len(asked) <= used && slices.ContainsFunc(asked, func(c *connpath.Connection) bool { return !rests(c, now) })
}

// rests says whether all that was asked for on a TCP connection has been with the client for a while.
func rests(c *connpath.Connection, now time.Time) bool {
	return now.Sub(c.RestsSince(now)) >= rest && c.Delivered() >= rest
}

// Run rehearses on the registry's QUIC connections, once on each, until ctx ends.
func Run(ctx context.Context, registry *connpath.Registry, ended *Ended) {
	registry.All(ctx, interval, func(open []*connpath.Connection, now time.Time) {
		ended.forget(now)
		for quic, tcp := range due(open, ended, now) {
			go rehearse(registry, quic, tcp)
		}
	})
}

// beside is what TCP has shown beside a QUIC connection: the connections that are open, and what the one knew that has closed.
type beside struct {
	open   []*connpath.Connection
	closed connpath.Reading
}

// due returns the QUIC connections that have not shown what their paths drop, and rest while all TCP connections of their clients rest or have
// closed.
func due(open []*connpath.Connection, ended *Ended, now time.Time) map[*connpath.Connection]beside {
	waiting := map[netip.Addr]*connpath.Connection{}
	for _, c := range open {
		if c.Rehearse == nil || c.RehearsalBegan() || c.TakenBack() || c.Sent() >= bytes || !c.Client().IsValid() || !c.Verified() {
			continue
		}
		quiet := opened
		if c.Answering() { // Firefox asks for the site's icon there
			quiet = rest
		}
		if now.Sub(c.RestsSince(now)) >= quiet {
			waiting[c.Client()] = c
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	all := map[*connpath.Connection]beside{}
	for client, quic := range waiting {
		if at, r, is := ended.last(client); is && now.Sub(at) >= rest {
			all[quic] = beside{closed: r}
		}
	}
	for _, c := range open {
		quic := waiting[c.Client()]
		if quic == nil || c.Transport != connpath.TCP || !c.Sampled() {
			continue
		}
		if !rests(c, now) {
			delete(all, quic)
			delete(waiting, c.Client())
			continue
		}
		tcp := all[quic]
		tcp.open = append(tcp.open, c)
		all[quic] = tcp
	}
	return all
}

// rehearse goes no faster than TCP has: what is lost then is not lost in a queue that QUIC alone has filled.
func rehearse(registry *connpath.Registry, quic *connpath.Connection, tcp beside) {
	rate, sent, lost := tcp.closed.RawDeliveryRate, tcp.closed.PacketsSent, tcp.closed.PacketsLost
	for _, c := range tcp.open {
		if r, ok := c.Read(); ok {
			rate = max(rate, r.RawDeliveryRate)
			sent += r.PacketsSent
			lost += r.PacketsLost
		}
	}
	if rate == 0 || !quic.RehearsalBegins() { // nothing is known of TCP yet: a later look may know it
		return
	}
	began := time.Now()
	quic.Rehearse(bytes, rate)
	for _, c := range append(tcp.open, quic) {
		registry.SampleNow(c)
	}
	r, _ := quic.Read()
	asked := quic.RestsSince(time.Now()).After(began)
	if asked || r.PacketsLost*max(sent, 1) <= unlike*lost*r.PacketsSent {
		return
	}
	quic.Rehearse(moreBytes, rate)
	registry.SampleNow(quic)
}
