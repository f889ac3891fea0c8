package session

import (
	"context"
	"net/http"
	"net/netip"
	"time"
)

// connection is one open connection. Everything sent over it is sent by this session.
type connection struct {
	http.RoundTripper
	Connection
	// alive says whether another request may be sent.
	alive func() bool
	close func()
	// migrate moves the connection to another address of the client; nil over TCP, which cannot.
	migrate func(ctx context.Context, to netip.Addr) error
	// resumed asks a QUIC connection for what its report has; nil over TCP, which knows when it is open.
	resumed func() (resumed, earlyData bool)
	// forAltSvc says that an Alt-Svc field made the session open it.
	forAltSvc bool
}

// Connection is what is reported of a connection.
type Connection struct {
	Protocol  Protocol
	LocalPort int
	// When it began to be opened, since the start of the session.
	Opened time.Duration
	// TCP's part of the handshake, a name lookup included; 0 for QUIC, which has no such part.
	Connect time.Duration
	// From the beginning until requests may be sent: TCP and TLS, or QUIC's handshake, which is both.
	// With 0-RTT they may be sent at once, and it is next to nothing.
	Handshake time.Duration
	// Whether its TLS session was resumed, and whether the server accepted 0-RTT packets.
	Resumed   bool
	EarlyData bool
}

// attempt is a connection being opened, for everyone who waits for it.
type attempt struct {
	done       chan struct{} // closed once connection or err is set
	connection *connection
	err        error
}

func newAttempt(open func() (*connection, error)) *attempt {
	a := &attempt{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.connection, a.err = open()
	}()
	return a
}

func (a *attempt) finished() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// usable says whether it is worth waiting for, or there already.
func (a *attempt) usable() bool {
	return a != nil && (!a.finished() || a.err == nil && a.connection.alive())
}
