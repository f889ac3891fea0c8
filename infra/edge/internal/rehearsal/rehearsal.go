// Package rehearsal finds out what a network does to UDP before a page depends on it. Of this module it imports connpath.
//
// A browser that is offered HTTP/3 opens a QUIC connection beside the page that brought the offer. Once that is open, the page's last files
// go over it, and else the next page is the first. Where the network polices UDP, they would take seconds, and only then show why. So the
// handshake waits until the page is there (Waits), and then the connection carries as much as a small page, for nobody to read (Run). What
// was lost of it is sampled with what was lost over TCP: the worker compares the two, and takes the offer back with the next page's first
// response.
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
	// A hundred packets: of so many a network that drops 8 % of UDP loses eight, and one that holds UDP to 5 Mbit/s after a burst of 50 kB
	// more.
	bytes = 128 << 10
	// They follow where more of those were lost than of TCP's, and make it 1 MB: from 750 packets a worker tells a loss of 2 % from none five
	// times of six, from half as many two times of three.
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
func Run(ctx context.Context, registry *connpath.Registry) {
	registry.All(ctx, interval, func(open []*connpath.Connection, now time.Time) {
		for quic, tcp := range due(open, now) {
			go rehearse(registry, quic, tcp)
		}
	})
}

// due returns the QUIC connections that wait for their first request while all TCP connections of their clients rest, with these.
func due(open []*connpath.Connection, now time.Time) map[*connpath.Connection][]*connpath.Connection {
	waiting := map[netip.Addr]*connpath.Connection{}
	for _, c := range open {
		if c.Rehearse != nil && !c.Sampled() && c.Client().IsValid() && now.Sub(c.Began) >= opened && c.Verified() {
			waiting[c.Client()] = c
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	beside := map[*connpath.Connection][]*connpath.Connection{}
	for _, c := range open {
		quic := waiting[c.Client()]
		if quic == nil || c.Transport != connpath.TCP || !c.Sampled() {
			continue
		}
		if !rests(c, now) {
			delete(beside, quic)
			delete(waiting, c.Client())
			continue
		}
		beside[quic] = append(beside[quic], c)
	}
	return beside
}

// rehearse goes no faster than TCP has: what is lost then is not lost in a queue that QUIC alone has filled.
func rehearse(registry *connpath.Registry, quic *connpath.Connection, tcp []*connpath.Connection) {
	var rate, sent, lost uint64
	for _, c := range tcp {
		if r, ok := c.Read(); ok {
			rate = max(rate, r.RawDeliveryRate)
			sent += r.PacketsSent
			lost += r.PacketsLost
		}
	}
	if rate == 0 || !quic.RehearsalBegins() { // nothing is known of TCP yet: a later look may know it
		return
	}
	quic.Rehearse(bytes, rate)
	for _, c := range append(tcp, quic) {
		registry.SampleNow(c)
	}
	r, _ := quic.Read()
	if r.PacketsLost*max(sent, 1) <= unlike*lost*r.PacketsSent {
		return
	}
	quic.Rehearse(moreBytes, rate)
	registry.SampleNow(quic)
}
