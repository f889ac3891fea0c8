package rehearsal

import (
	"net/netip"
	"testing"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

func TestWhichHandshakesWait(t *testing.T) {
	const ms = time.Millisecond
	client, other := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.8")
	start := time.UnixMilli(1_000_000)
	// open makes a connection whose last request ended so long ago, and whose client has had all of it for so long.
	open := func(from netip.Addr, ended, delivered time.Duration) *connpath.Connection {
		c := connpath.New(connpath.TCP, from, nil, start)
		c.Delivered = func() time.Duration { return delivered }
		c.RequestBegins(start)
		c.RequestEnds(start.Add(10*time.Second - ended))
		c.Offers()
		return c
	}
	asking := open(client, time.Second, 0)
	asking.RequestBegins(start)
	unused := connpath.New(connpath.TCP, client, nil, start)
	quic := open(client, time.Second, time.Second)
	quic.Transport = connpath.QUIC
	unoffered := connpath.New(connpath.TCP, client, nil, start)
	unoffered.RequestBegins(start)
	websocket := open(client, 0, 0)
	websocket.Upgraded.Store(true)
	there, onItsWay := open(client, time.Second, time.Second), open(client, time.Second, 0)
	var many []*connpath.Connection
	for range most {
		many = append(many, connpath.New(connpath.TCP, client, nil, start))
	}
	for _, test := range []struct {
		name string
		open []*connpath.Connection
		want bool
	}{
		{"a request is under way", []*connpath.Connection{asking}, true},
		{"one ended just now", []*connpath.Connection{open(client, 200*ms, time.Second)}, true},
		{"its response is on its way", []*connpath.Connection{onItsWay}, true},
		{"it has come just now", []*connpath.Connection{open(client, time.Second, 200*ms)}, true},
		{"all is there", []*connpath.Connection{there}, false},
		{"a second connection is at rest", []*connpath.Connection{onItsWay, there}, true},
		{"a third one was not used yet", []*connpath.Connection{onItsWay, there, unused}, true},
		{"nothing was offered", []*connpath.Connection{unoffered}, false},
		{"another one than the offer's is asked on", []*connpath.Connection{unoffered, there}, true},
		{"a websocket is open", []*connpath.Connection{websocket, there}, false},
		{"three were used", []*connpath.Connection{onItsWay, there, asking}, false},
		{"there are many", append(many, onItsWay), false},
		{"there are as many as one browser may have", append(many[1:], onItsWay), true},
		{"another one was answered", []*connpath.Connection{onItsWay, quic}, false},
		{"nothing was asked for", []*connpath.Connection{unused}, false},
		{"somebody else's page is on its way", []*connpath.Connection{open(other, 0, 0)}, false},
		{"there is no connection", nil, false},
	} {
		registry := &connpath.Registry{}
		for _, c := range test.open {
			registry.Add(c)
		}
		if got := Waits(registry, client, start.Add(10*time.Second)); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
