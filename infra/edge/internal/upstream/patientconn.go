package upstream

import (
	"net"
	"sync"
)

// patientConn is a connection to the upstream on which an answer wins over the error of writing its request. An upstream
// may answer an upload before it has read all of it, and close; net/http's transport then gives up the whole exchange at
// the write error, even when the answer is there to be read. So a failed Write waits until the connection is closed:
// the transport's reader closes it, after it has read the answer or has met the end of the connection.
type patientConn struct {
	net.Conn
	closing sync.Once
	closed  chan struct{}
}

func newPatientConn(c net.Conn) *patientConn {
	return &patientConn{Conn: c, closed: make(chan struct{})}
}

func (c *patientConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		<-c.closed
	}
	return n, err
}

func (c *patientConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
