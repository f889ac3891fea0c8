package listen

import (
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/visitor"
)

// Listener hands out connections that are measured.
type Listener struct {
	*net.TCPListener
	Registry *visitor.Registry
	// OnClose sees every connection once, while its statistics can still be read.
	OnClose func(*visitor.Connection)
	Linger  *Lingerer
	// Serves says whether HTTP/3 serves on the same port number; nil where it is off.
	Serves *atomic.Bool
}

// Accept returns the next connection, entered in the registry.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	t, err := newTCPConn(c, time.Now(), l.OnClose, l.Linger)
	if err != nil {
		c.Close()
		return nil, err
	}
	t.conn.Serves = l.Serves
	l.Registry.Add(t.conn, func() { t.Close() })
	return t, nil
}

// ConnectionOf returns the connection behind one that a Listener accepted and crypto/tls wrapped; nil for any other.
func ConnectionOf(c net.Conn) *visitor.Connection {
	if t, ok := c.(*tls.Conn); ok {
		if t, ok := t.NetConn().(*tcpConn); ok {
			return t.conn
		}
	}
	return nil
}

// tcpConn is an accepted TCP connection that reads TCP_INFO once more when it is closed: afterwards the socket is gone.
// (*tls.Conn).NetConn gives it back.
type tcpConn struct {
	*net.TCPConn
	conn    *visitor.Connection
	onClose func(*visitor.Connection)
	linger  *Lingerer

	closing  sync.Once
	closeErr error
}

func newTCPConn(c *net.TCPConn, now time.Time, onClose func(*visitor.Connection), linger *Lingerer) (*tcpConn, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	t := &tcpConn{TCPConn: c, conn: visitor.New(measure.TCP, now), onClose: onClose, linger: linger}
	var remote netip.Addr
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		remote = visitor.ClientAddr(a.AddrPort())
	}
	t.conn.Client = func() netip.Addr { return remote }
	t.conn.Taken = func() uint64 { return measure.TakenTCP(raw) }
	t.conn.Abort = t.abort
	t.conn.Left = func() bool { return measure.LeftTCP(raw) }
	t.conn.Quiet = func() time.Duration { return measure.QuietTCP(raw) }
	handshake := measure.HandshakeTCP(raw)
	t.conn.Read = func() (measure.Reading, bool) {
		r, ok := measure.ReadTCP(raw)
		return r.Since(handshake), ok
	}
	return t, nil
}

func (t *tcpConn) Write(p []byte) (int, error) {
	t.conn.Writes.Begin()
	n, err := t.TCPConn.Write(p)
	t.conn.Writes.End()
	t.conn.Sent.Add(uint64(n))
	return n, err
}

// Close hands the connection over for its closing sample, then closes it. Where the client closed first, as browsers
// do, everything has been acknowledged by now. Where this side does (Connection: close, shutdown), the counters lack
// what the kernel still has to send and the losses of the last flight. They are cumulative, so that is evidence
// missing, not wrong; waiting for it would hold the socket for as long as the client likes, so it is not done.
func (t *tcpConn) Close() error {
	t.closing.Do(func() {
		t.onClose(t.conn)
		if t.conn.Lingers.Load() {
			t.closeErr = t.linger.close(t.TCPConn)
			return
		}
		t.closeErr = t.TCPConn.Close()
	})
	return t.closeErr
}

// abort closes the connection by a reset. After a usual close the kernel would keep what a client does not read.
func (t *tcpConn) abort() {
	_ = t.SetLinger(0)
	t.conn.Lingers.Store(false)
	_ = t.Close()
}
