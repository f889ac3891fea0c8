package connpath

import (
	"net"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// tcpPair is a connection over loopback: the accepted end, measured, and the client's.
func tcpPair(t *testing.T, closing func(*Connection)) (*tcpConn, net.Conn) {
	t.Helper()
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	c, err := (&Listener{TCPListener: ln, Opened: func(*Connection) {}, Closing: closing}).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*tcpConn), client
}

func TestTCPConnectionReadsOnceMoreAtClose(t *testing.T) {
	var last Reading
	var ok bool
	closes := 0
	c, client := tcpPair(t, func(c *Connection) { closes++; last, ok = c.Read() })
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
	if closes != 1 || !ok || last.BytesSent != 1000 || last.PacketsSent != 1 || last.RTT <= 0 || c.conn.sent.Load() != 1000 {
		t.Errorf("%d closes, %v %+v, %d sent", closes, ok, last, c.conn.sent.Load())
	}
	if _, ok := c.conn.Read(); ok {
		t.Error("a closed socket cannot be read")
	}
}
