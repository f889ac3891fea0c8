package listen

import (
	"net"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/visitor"
)

// tcpPair is a connection over loopback: the accepted end, measured, and the client's.
func tcpPair(t *testing.T, onClose func(*visitor.Connection)) (*tcpConn, net.Conn) {
	t.Helper()
	sockets, err := Open(Spec{Hosts: mustSpec(t, "127.0.0.1:0").Hosts}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tcpPairOn(t, sockets, onClose)
}

// tcpPairOn is the same over sockets that were opened for it, and closes them with the test.
func tcpPairOn(t *testing.T, sockets []Socket, onClose func(*visitor.Connection)) (*tcpConn, net.Conn) {
	t.Helper()
	t.Cleanup(func() { Close(sockets) })
	client, err := net.Dial("tcp", sockets[0].Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	accepted, err := sockets[0].TCP.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newTCPConn(accepted, time.Now(), onClose, &Lingerer{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, client
}

func TestTCPConnectionReadsOnceMoreAtClose(t *testing.T) {
	var last measure.Reading
	var ok bool
	closes := 0
	c, client := tcpPair(t, func(c *visitor.Connection) { closes++; last, ok = c.Read() })
	if c.conn.Client().String() != "127.0.0.1" || len(c.conn.ID()) != 16 {
		t.Errorf("client %s, id %q", c.conn.Client(), c.conn.ID())
	}
	if _, err := c.Write(edgetest.Pattern(1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	c.Close()
	if closes != 1 || !ok || last.BytesSent != 1000 || last.PacketsSent != 1 || last.RTT <= 0 || c.conn.Sent.Load() != 1000 {
		t.Errorf("%d closes, %v %+v, %d sent", closes, ok, last, c.conn.Sent.Load())
	}
	if _, ok := c.conn.Read(); ok {
		t.Error("a closed socket cannot be read")
	}
}
