package crowd

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

// scene is a crowd whose connections close when they are told to.
type scene struct {
	*Crowd
	closed chan string

	mu   sync.Mutex
	open map[*connpath.Connection]bool
}

func newScene(total int) *scene {
	return &scene{Crowd: New(total), closed: make(chan string, 10_000), open: map[*connpath.Connection]bool{}}
}

func (s *scene) add(address string, began time.Time) *connpath.Connection {
	conn := connpath.New(connpath.TCP, netip.MustParseAddr(address), nil, began)
	s.mu.Lock()
	s.open[conn] = true
	s.mu.Unlock()
	conn.Close = func() {
		s.mu.Lock()
		delete(s.open, conn)
		s.mu.Unlock()
		s.Remove(conn)
		s.closed <- address
	}
	s.Add(conn)
	return conn
}

// settle waits until as many were closed as were chosen, and returns them.
func (c *scene) settle() map[string]int {
	got := map[string]int{}
	for range c.Closed() {
		got[<-c.closed]++
	}
	return got
}

// One client, and one network, get a share of all; what others have stays open.
func TestConnectionsOfAClientAreBounded(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	for _, tc := range []struct {
		name    string
		address func(i int) string
		most    int
	}{
		{"an IPv4 address", func(int) string { return "192.0.2.66" }, 25},
		{"a /64", func(i int) string { return fmt.Sprintf("2001:db8:1:1::%x", i+1) }, 25},
		{"a /48", func(i int) string { return fmt.Sprintf("2001:db8:1:%x::1", i) }, 50},
	} {
		c := newScene(100)
		for i := range 20 {
			c.add(fmt.Sprintf("192.0.2.%d", i), began)
		}
		for i := range 1000 {
			c.add(tc.address(i), began.Add(time.Duration(i)*time.Second))
		}
		for address, n := range c.settle() {
			if address[:7] == "192.0.2" && address != "192.0.2.66" {
				t.Errorf("%s: %d of %s were closed", tc.name, n, address)
			}
		}
		if open := len(c.open); open > 20+tc.most || open < 20+tc.most-5 {
			t.Errorf("%s: %d connections are open", tc.name, open)
		}
	}
}

// Beyond the bound those go that have been at rest for longest, and none that is answering.
func TestConnectionsAreBounded(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	c := newScene(64)
	for i := range 16 {
		c.add(fmt.Sprintf("10.0.0.%d", i), began).RequestBegins(time.Now())
	}
	for i := range 200 {
		c.add(fmt.Sprintf("10.1.0.%d", i), began.Add(time.Duration(i)*time.Second))
	}
	closed := c.settle()
	if open := len(c.open); open > 64 || open < 59 {
		t.Errorf("%d are open", open)
	}
	for i := range 16 {
		if address := fmt.Sprintf("10.0.0.%d", i); closed[address] != 0 {
			t.Errorf("%s was closed while it was answering", address)
		}
	}
	for i := range 140 {
		if address := fmt.Sprintf("10.1.0.%d", i); closed[address] != 1 {
			t.Errorf("%s is open, and a younger one is closed", address)
		}
	}
}

func TestNothingIsCountedAtTheEnd(t *testing.T) {
	c := newScene(8)
	var all []*connpath.Connection
	for i := range 100 {
		all = append(all, c.add(fmt.Sprintf("10.1.0.%d", i), time.Now().Add(-time.Hour)))
	}
	c.settle()
	for _, conn := range all {
		c.Remove(conn)
	}
	if c.tally.All() != 0 || len(c.counted) != 0 {
		t.Errorf("%d counted, %d open", c.tally.All(), len(c.counted))
	}
}

// Where all are answering, it is the newcomer that goes, and is not counted.
func TestNewcomerWhereAllAreAnswering(t *testing.T) {
	c := newScene(4)
	for i := range 4 {
		c.add(fmt.Sprintf("10.0.0.%d", i), time.Now().Add(-time.Hour)).RequestBegins(time.Now())
	}
	c.add("10.1.0.1", time.Now())
	if closed := c.settle(); closed["10.1.0.1"] != 1 || c.tally.All() != 4 {
		t.Errorf("closed: %v, %d counted", closed, c.tally.All())
	}
}
