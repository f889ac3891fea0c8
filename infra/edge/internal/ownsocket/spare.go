package ownsocket

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// spareWait is how long a client may take to be there where a descriptor was given back for it.
const spareWait = 10 * time.Millisecond

// patient is a listener that keeps a descriptor for one client, so that the operator is answered also where visitors have all others.
type patient struct {
	net.Listener
	mu    sync.Mutex
	spare *os.File // nil: given back, or none was to be had
}

func newPatient(ln net.Listener) *patient {
	p := &patient{Listener: ln}
	p.keep()
	return p
}

// keep takes a descriptor, if there is one.
func (p *patient) keep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spare == nil {
		p.spare, _ = os.Open(os.DevNull)
	}
}

func (p *patient) giveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spare != nil {
		_ = p.spare.Close()
		p.spare = nil
	}
}

// Accept returns the next client. Where it returns an error, as no client is there for the spare descriptor, http.Server calls it again
// within a second.
func (p *patient) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if errors.Is(err, syscall.EMFILE) {
		c, err = p.acceptBySpare(err)
	}
	if err != nil {
		return nil, err
	}
	return &spareConn{Conn: c, after: p.keep}, nil
}

func (p *patient) acceptBySpare(full error) (net.Conn, error) {
	ln, ok := p.Listener.(interface{ SetDeadline(time.Time) error })
	if !ok {
		return nil, full
	}
	p.giveBack()
	_ = ln.SetDeadline(time.Now().Add(spareWait))
	c, err := p.Listener.Accept()
	_ = ln.SetDeadline(time.Time{})
	if err != nil {
		p.keep()
	}
	return c, err
}

// Close closes the listener.
func (p *patient) Close() error {
	p.giveBack()
	return p.Listener.Close()
}

// spareConn is a client's connection. After its end the spare descriptor is kept again.
type spareConn struct {
	net.Conn
	after func()
}

func (c *spareConn) Close() error {
	err := c.Conn.Close()
	c.after()
	return err
}
