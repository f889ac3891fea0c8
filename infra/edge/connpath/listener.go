package connpath

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Listener hands out connections that are measured.
type Listener struct {
	*net.TCPListener
	// Opened sees every connection first, and may set its fields.
	Opened func(*Connection)
	// Closing sees every connection once, while its statistics can still be read.
	Closing func(*Connection)
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
	readAt   atomic.Uint64 // how many bytes are written at the next reading for overflow

	closing  sync.Once
	closeErr error
}

func (l *Listener) measured(c *net.TCPConn, now time.Time) (*tcpConn, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	// The kernel counts each SYN-ACK that was sent again as data sent again, but not as data sent (tcp_create_openreq_child in
	// net/ipv4/tcp_minisocks.c).
	handshake, _ := readTCP(raw)
	before := Reading{PacketsLost: handshake.PacketsLost, Retransmitted: handshake.Retransmitted}
	var overflow overflow
	conn := New(TCP, ClientAddr(c.RemoteAddr()), func() (Reading, bool) {
		r, ok := readTCP(raw)
		return overflow.leaveOut(r.since(before)), ok
	}, now)
	conn.busy.sending = func() time.Duration { return sendingTCP(raw) }
	t := &tcpConn{TCPConn: c, conn: conn, listener: l}
	t.readAt.Store(firstReading)
	conn.Close = func() { _ = t.Close() }
	conn.Abort = t.abort
	conn.Left = func() bool { return leftTCP(raw) }
	conn.Quiet = func() time.Duration { return quietTCP(raw) }
	conn.Delivered = func() time.Duration { return deliveredTCP(raw) }
	return t, nil
}

func (t *tcpConn) Write(p []byte) (int, error) {
	n, err := t.TCPConn.Write(p)
	// A reading each time that a quarter more was written: 50 of a connection that has sent 10 GB.
	if sent := t.conn.sent.Add(uint64(n)); sent >= t.readAt.Load() {
		t.readAt.Store(sent + sent/4)
		_, _ = t.conn.Read()
	}
	return n, err
}

// Close hands the connection over for its closing sample, then closes it. Where the client closed first, as browsers
// do, everything has been acknowledged by now. Where this side does (Connection: close, shutdown), the counters lack
// what the kernel still has to send and the losses of the last flight. They are cumulative, so that is evidence
// missing, not wrong; waiting for it would hold the socket for as long as the client likes, so it is not done.
func (t *tcpConn) Close() error {
	t.closing.Do(func() {
		t.listener.Closing(t.conn)
		if t.conn.Lingers.Load() {
			t.closeErr = linger(t.TCPConn)
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

const (
	// nginx has the same defaults (lingering_time, lingering_timeout).
	lingerTime  = 30 * time.Second
	lingerPause = 5 * time.Second
	// The most connections that may linger at a time: each holds a descriptor and a goroutine.
	lingerMost = 1024
)

// lingering counts the connections of this program that linger.
var lingering atomic.Int64

// linger closes a connection whose client may still send a request that has its response already. A close at once would
// answer those bytes with a reset, which can overtake the response on its way (RFC 9112, section 9.6). It sends the end of this side, and
// returns. A goroutine throws away what the client still sends, until the client closes, pauses for lingerPause, or lingerTime is over.
func linger(c *net.TCPConn) error {
	if lingering.Add(1) > lingerMost || c.CloseWrite() != nil {
		lingering.Add(-1)
		return c.Close()
	}
	go func() {
		defer lingering.Add(-1)
		defer c.Close()
		end := time.Now().Add(lingerTime)
		buf := make([]byte, 4<<10)
		for {
			now := time.Now()
			if now.After(end) || c.SetReadDeadline(now.Add(lingerPause)) != nil {
				return
			}
			if _, err := c.Read(buf); err != nil {
				return
			}
		}
	}()
	return nil
}
