// Package session is one visit of one client: connections over HTTP/1.1, HTTP/2 and HTTP/3 that are its own, an
// Alt-Svc cache that is its own, and nothing left over from an earlier visit unless Config.Resumption carries it over.
package session

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Protocol is a version of HTTP, by its short name.
type Protocol string

// The protocols a session can begin with.
const (
	H1 Protocol = "h1"
	H2 Protocol = "h2"
	H3 Protocol = "h3"
)

// Switch is what a session does with its requests while the QUIC connection of an offered alternative is being opened.
type Switch string

const (
	// SwitchWait holds them until the new connection is there.
	SwitchWait Switch = "wait"
	// SwitchBackground sends them over the old connection until the new one is there, as browsers do.
	SwitchBackground Switch = "background"
)

const (
	// DefaultParallel is the number of connections that browsers open to one origin over HTTP/1.1.
	DefaultParallel = 6
	// DefaultQUICTimeout bounds a QUIC handshake. Where UDP is blocked a session waits that long, once.
	DefaultQUICTimeout = 2 * time.Second
)

// Config is what a session is to be.
type Config struct {
	// The origin. Without Address the host is looked up.
	Host    string
	Port    int
	Address string
	// The roots to trust; nil for the system's.
	Roots *x509.CertPool
	// Trust any certificate, for a server under test.
	InsecureSkipVerify bool
	// The source address; the zero address leaves it to the routing table.
	ClientAddress netip.Addr
	FirstProtocol Protocol
	Switch        Switch
	// Subresources under way at a time.
	Parallel    int
	QUICTimeout time.Duration
	// Move is a change of the client's address on the way; nil for none. For sessions that load one file at a time.
	Move *Move
	// UDPReceiveBuffer is what the kernel keeps of a QUIC connection's packets until they are read, bytes, as a program
	// asks for it (the kernel books twice as much); 0 leaves quic-go its own choice, 7 MiB where that is allowed.
	UDPReceiveBuffer int
	// Resumption is what earlier sessions have left, and where this one leaves its own; nil for a client that was never here.
	Resumption *Resumption
	// The clock of Alt-Svc freshness only.
	Now func() time.Time
}

// Page is a document and what it refers to, as paths.
type Page struct {
	Document     string
	Subresources []string
}

// withDefaults checks the configuration and fills in what it leaves out.
func (c Config) withDefaults() (Config, error) {
	if c.Host == "" || c.Port < 1 || c.Port > 65535 {
		return c, fmt.Errorf("the origin needs a host and a port, not %q and %d", c.Host, c.Port)
	}
	switch c.FirstProtocol {
	case H1, H2, H3:
	default:
		return c, fmt.Errorf("firstProtocol %q is none of h1, h2, h3", c.FirstProtocol)
	}
	switch c.Switch {
	case SwitchWait, SwitchBackground:
	default:
		return c, fmt.Errorf("switch %q is neither wait nor background", c.Switch)
	}
	if c.Address == "" {
		c.Address = c.Host
	}
	if c.Parallel == 0 {
		c.Parallel = DefaultParallel
	}
	if c.QUICTimeout == 0 {
		c.QUICTimeout = DefaultQUICTimeout
	}
	if c.Move != nil && (c.Move.AfterBytes <= 0 || !c.Move.To.IsValid()) {
		return c, fmt.Errorf("a move is after some bytes (%d), to an address (%s)", c.Move.AfterBytes, c.Move.To)
	}
	if c.UDPReceiveBuffer < 0 {
		return c, fmt.Errorf("the UDP receive buffer (%d) must not be below 0", c.UDPReceiveBuffer)
	}
	if c.Parallel < 0 || c.QUICTimeout < 0 {
		return c, fmt.Errorf("parallel (%d) and the QUIC timeout (%s) must be above 0", c.Parallel, c.QUICTimeout)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

func (p Page) check() error {
	for _, path := range append([]string{p.Document}, p.Subresources...) {
		if !strings.HasPrefix(path, "/") {
			return fmt.Errorf("path %q does not begin with /", path)
		}
	}
	return nil
}
