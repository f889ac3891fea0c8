package upstream

import (
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// widened is how much of an answer the kernel takes before anybody reads it. A server that answers an upload early, and closes, resets
// the connection when more of the upload comes. What this kernel has of the answer by then stays; what the server's kernel still has
// is lost. Linux begins with 64 KB.
const widened = 512 << 10

// patientConn is a connection to the upstream on which an answer wins over the error of writing its request. An upstream
// may answer an upload before it has read all of it, and close; net/http's transport then gives up the whole exchange at
// the write error, even when the answer is there to be read. So a failed Write waits until the connection is closed:
// the transport's reader closes it, after it has read the answer or has met the end of the connection.
type patientConn struct {
	net.Conn
	closing sync.Once
	closed  chan struct{}
	writes  atomic.Int64 // under way
}

func newPatientConn(c net.Conn) *patientConn {
	if tcp, is := c.(*net.TCPConn); is {
		widen(tcp)
	}
	return &patientConn{Conn: c, closed: make(chan struct{})}
}

func (c *patientConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	n, err := c.Conn.Write(p)
	c.writes.Add(-1)
	if err != nil {
		<-c.closed
	}
	return n, err
}

// Close ends a connection whose upstream does not read by a reset: otherwise the kernel would keep what it still has to send, and
// the upstream would not learn of the end.
func (c *patientConn) Close() error {
	if tcp, is := c.Conn.(*net.TCPConn); is && c.writes.Load() > 0 {
		_ = tcp.SetLinger(0)
	}
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// widen lets the kernel take more of an answer. SO_RCVLOWAT does it, as SO_RCVBUF would end the kernel's own tuning (tcp(7)). Where that
// fails, answers come as before.
func widen(c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, widened)
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, 1)
	})
}
