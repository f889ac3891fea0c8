package connpath

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// Listener hands out connections that are measured.
type Listener struct {
	*net.TCPListener
	// Opened sees every connection first, and may set its fields.
	Opened func(*Connection)
	// Closing sees every connection once, while its statistics can still be read.
	Closing func(*Connection)
	// CloseSocket closes the socket of a connection, at once or later; nil closes it at once.
	CloseSocket func(*Connection, *net.TCPConn) error
}

// Accept returns the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	t, err := l.measured(c, time.Now())
	if err != nil {
		c.Close()
		return nil, err
	}
	l.Opened(t.conn)
	return t, nil
}

// ConnContext puts the connection behind one that a Listener accepted into the context of its requests. It is http.Server's ConnContext.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	secured, isTLS := c.(*tls.Conn)
	if isTLS {
		c = secured.NetConn()
	}
	t, ok := c.(*tcpConn)
	if !ok {
		return ctx
	}
	if isTLS {
		t.conn.TLS.Store(secured)
	}
	return NewContext(ctx, t.conn)
}

// tcpConn is an accepted TCP connection that reads TCP_INFO once more when it is closed: afterwards the socket is gone.
// (*tls.Conn).NetConn gives it back.
type tcpConn struct {
	*net.TCPConn
	conn     *Connection
	listener *Listener

	closing  sync.Once
	closeErr error
}

func (l *Listener) measured(c *net.TCPConn, now time.Time) (*tcpConn, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	conn := New(TCP, ClientAddr(c.RemoteAddr()), func() (Reading, bool) { return readTCP(raw) }, now)
	// The kernel counts each SYN-ACK that was sent again as data sent again, but not as data sent (tcp_create_openreq_child in
	// net/ipv4/tcp_minisocks.c).
	handshake, _ := readTCP(raw)
	conn.at.Load().before = Reading{PacketsLost: handshake.PacketsLost, Retransmitted: handshake.Retransmitted}
	t := &tcpConn{TCPConn: c, conn: conn, listener: l}
	conn.Close = func() { _ = t.Close() }
	conn.Abort = t.abort
	conn.Left = func() bool { return leftTCP(raw) }
	conn.Quiet = func() time.Duration { return quietTCP(raw) }
	return t, nil
}

func (t *tcpConn) Write(p []byte) (int, error) {
	n, err := t.TCPConn.Write(p)
	t.conn.sent.Add(uint64(n))
	return n, err
}

// Close hands the connection over for its closing sample, then closes it. Where the client closed first, as browsers
// do, everything has been acknowledged by now. Where this side does (Connection: close, shutdown), the counters lack
// what the kernel still has to send and the losses of the last flight. They are cumulative, so that is evidence
// missing, not wrong; waiting for it would hold the socket for as long as the client likes, so it is not done.
func (t *tcpConn) Close() error {
	t.closing.Do(func() {
		t.listener.Closing(t.conn)
		if t.listener.CloseSocket != nil {
			t.closeErr = t.listener.CloseSocket(t.conn, t.TCPConn)
		} else {
			t.closeErr = t.TCPConn.Close()
		}
	})
	return t.closeErr
}

// abort closes the connection by a reset. After a usual close the kernel would keep what a client does not read.
func (t *tcpConn) abort() {
	_ = t.SetLinger(0)
	t.conn.Lingers.Store(false)
	_ = t.Close()
}
