package visitor

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/measure"
)

// crowd is a registry whose connections close when they are told to.
type crowd struct {
	*Registry
	closed chan string
}

func newCrowd(total int) *crowd {
	c := &crowd{NewRegistry(), make(chan string, 10_000)}
	c.Bound(total)
	return c
}

func (c *crowd) add(address string, began time.Time) *Connection {
	conn := New(measure.TCP, began)
	conn.Client = func() netip.Addr { return netip.MustParseAddr(address) }
	c.Add(conn, func() { c.Remove(conn); c.closed <- address })
	return conn
}

// settle waits until as many were closed as were chosen, and returns them.
func (c *crowd) settle() map[string]int {
	got := map[string]int{}
	for range c.Crowded() {
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
		c := newCrowd(100)
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
		if open := len(c.Snapshot(nil)); open > 20+tc.most || open < 20+tc.most-5 {
			t.Errorf("%s: %d connections are open", tc.name, open)
		}
	}
}

// Beyond the bound those go that have been at rest for longest, and none that is answering.
func TestConnectionsAreBounded(t *testing.T) {
	began := time.Now().Add(-time.Hour)
	c := newCrowd(64)
	for i := range 16 {
		c.add(fmt.Sprintf("10.0.0.%d", i), began).Busy.Begin(time.Now())
	}
	for i := range 200 {
		c.add(fmt.Sprintf("10.1.0.%d", i), began.Add(time.Duration(i)*time.Second))
	}
	closed := c.settle()
	if open := len(c.Snapshot(nil)); open > 64 || open < 59 {
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
	c := newCrowd(8)
	var all []*Connection
	for i := range 100 {
		all = append(all, c.add(fmt.Sprintf("10.1.0.%d", i), time.Now().Add(-time.Hour)))
	}
	c.settle()
	for _, conn := range all {
		c.Remove(conn)
	}
	if c.counted.All() != 0 || len(c.open) != 0 {
		t.Errorf("%d counted, %d open", c.counted.All(), len(c.open))
	}
}

// Where all are answering, it is the newcomer that goes, and is not counted.
func TestNewcomerWhereAllAreAnswering(t *testing.T) {
	c := newCrowd(4)
	for i := range 4 {
		c.add(fmt.Sprintf("10.0.0.%d", i), time.Now().Add(-time.Hour)).Busy.Begin(time.Now())
	}
	c.add("10.1.0.1", time.Now())
	if closed := c.settle(); closed["10.1.0.1"] != 1 || c.counted.All() != 4 {
		t.Errorf("closed: %v, %d counted", closed, c.counted.All())
	}
}
