package connpath

import (
	"io"
	"net"
	"testing"
	"time"

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

// The kernel takes what a client does not read for a while. Until it has read it, the response is under way.
func TestTCPConnectionIsBusyUntilItsClientHasRead(t *testing.T) {
	c, client := tcpPair(t, func(*Connection) {})
	const bytes, pause = 512 << 10, 150 * ms
	if err := c.SetWriteBuffer(2 * bytes); err != nil {
		t.Fatal(err)
	}
	if err := client.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	c.conn.RequestBegins(time.Now())
	if _, err := c.Write(edgetest.Pattern(bytes)); err != nil {
		t.Fatal(err)
	}
	ended := time.Now()
	c.conn.RequestEnds(ended)
	handedOver := c.conn.busy.until(ended)
	time.Sleep(pause) // the client does not read: that is the case
	if _, err := io.ReadFull(client, make([]byte, bytes)); err != nil {
		t.Fatal(err)
	}
	// The kernel's clock has ticks of up to 10 ms.
	if got := c.conn.busy.until(time.Now()) - handedOver; got < pause-20*ms || got > time.Since(ended) {
		t.Errorf("%v after it was handed over", got)
	}
}

// atRTT is a QUIC connection of which only the RTT is known.
type atRTT time.Duration

func (q atRTT) Read() Reading      { return Reading{RTT: time.Duration(q)} }
func (atRTT) RemoteAddr() net.Addr { return &net.UDPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 1} }

func TestQUICConnectionIsBusyForARoundTripMore(t *testing.T) {
	began := time.UnixMilli(0)
	c := NewQUIC(atRTT(70*ms), began)
	c.RequestBegins(began)
	c.RequestEnds(began.Add(100 * ms))
	if got := c.busy.until(began.Add(time.Second)); got != 170*ms {
		t.Errorf("%v", got)
	}
}

// What a connection that goes from rest to work, or back, pays for its kernel's clock.
func BenchmarkSendingTCP(b *testing.B) {
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	c, err := net.DialTCP("tcp", nil, ln.Addr().(*net.TCPAddr))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = sendingTCP(raw)
	}
}
