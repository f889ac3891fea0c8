package operator

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"

	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/upstream"
)

const (
	// How long a client may take to send its request's header.
	readHeaderTimeout = 15 * time.Second
	// spareWait is how long a client may take to be there where a descriptor was given back for it.
	spareWait = 10 * time.Millisecond
)

// serve answers GET /name at t in the background, until the caller closes the server. It answers nowhere where t is the zero target. Its
// error names the flag.
func serve(name string, t upstream.Target, h http.Handler, log *errorlog.Log) (*http.Server, error) {
	mux := http.NewServeMux()
	mux.Handle("GET /"+name, h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ErrorLog: log.Logger(name)}
	server.SetKeepAlivesEnabled(false) // a descriptor that is kept back is for one answer
	if t == (upstream.Target{}) {
		return server, nil
	}
	ln, err := listen(t.Network, t.Address)
	if err != nil {
		return nil, fmt.Errorf("flag -%s: %w", name, err)
	}
	go func() {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Report(name, err.Error())
		}
	}()
	return server, nil
}

// listen listens at an address of the network "tcp" or "unix". It takes the place of a socket that a killed program left behind, and of
// nothing else: a flag with a typing error must not cost a file.
func listen(network, address string) (net.Listener, error) {
	if network == "unix" {
		if info, err := os.Lstat(address); err == nil && info.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is there and is not a socket: name another path", address)
		}
		_ = os.Remove(address) // if that fails, so does what follows
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	if u, ok := ln.(*net.UnixListener); ok {
		// The program that follows may have put its own in this place by then.
		u.SetUnlinkOnClose(false)
	}
	p := &patient{listener: ln.(listener)}
	p.keep()
	return p, nil
}

type listener interface {
	net.Listener
	SetDeadline(time.Time) error
}

// patient is a listener that keeps a descriptor for one client, so that the operator is answered also where visitors have all others.
type patient struct {
	listener
	mu    sync.Mutex
	spare *os.File // nil: given back, or none was to be had
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
	_ = p.spare.Close() // also where it is nil
	p.spare = nil
}

// Accept returns the next client. Where it returns an error, as no client is there for the spare descriptor, http.Server calls it again
// within a second.
func (p *patient) Accept() (net.Conn, error) {
	c, err := p.listener.Accept()
	if errors.Is(err, syscall.EMFILE) {
		p.giveBack()
		_ = p.SetDeadline(time.Now().Add(spareWait))
		c, err = p.listener.Accept()
		_ = p.SetDeadline(time.Time{})
	}
	if err != nil {
		p.keep()
		return nil, err
	}
	return &spareConn{Conn: c, after: p.keep}, nil
}

// Close closes the listener.
func (p *patient) Close() error {
	err := p.listener.Close()
	p.giveBack()
	return err
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
