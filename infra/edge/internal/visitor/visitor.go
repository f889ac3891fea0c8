// Package visitor knows the open connections of visitors: what each one is, and how to read and close it. It does not
// accept them, and it knows no HTTP. Of this module it imports admission (to count clients)
// and measure.
package visitor

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"net/netip"
	"sync/atomic"
	"time"

	"adaptive-h3/infra/edge/internal/measure"
)

// Connection is one visitor's connection, as all code sees it except that of its protocol. The code that accepts the
// connection sets the fields before it adds the connection to a Registry. Afterwards only the atomics, Busy and the sampler's
// two fields change.
type Connection struct {
	// ID names the connection in samples, and says nothing about the client: 16 hexadecimal digits, random. A QUIC client that has
	// moved has another one, and Read and Busy begin anew.
	ID        func() string
	Transport measure.Transport
	Began     time.Time
	Client    func() netip.Addr // without zone, IPv4-mapped addresses unmapped; a QUIC client may move
	Read      func() (measure.Reading, bool)

	// Verified says whether the handshake is complete, which shows that the address is the client's own. Until then the
	// connection is not sampled. It is nil where a connection exists only after its handshake.
	Verified func() bool
	// Answering is true from the first request on. Before that a connection has sent nothing but its handshake, and is not
	// sampled: port scanners and unused preconnects are no clients.
	Answering atomic.Bool
	// Sent counts the bytes handed to the transport, without a system call. The sampler compares it with its last look.
	Sent atomic.Uint64
	Rate *measure.RateMeter // QUIC only; the kernel keeps TCP's
	// Serves says whether HTTP/3 serves on the same port number, where an offer on this connection leads. It is nil on QUIC
	// connections, and where HTTP/3 is off.
	Serves *atomic.Bool
	// Taken returns how many bytes the client's transport took, as far as the sender knows; nil: nobody knows.
	Taken func() uint64
	// Busy knows for how long responses were under way.
	Busy Busy
	// TLS is a TCP connection's TLS, once the server has it.
	TLS atomic.Pointer[tls.Conn]
	// Writes counts the writes to a TCP connection's socket. QUIC has none of its own for each connection.
	Writes Counter
	// Abort closes a TCP connection at once, and throws away what it still has to send. It is nil on QUIC connections.
	Abort func()
	// Quiet returns for how long a TCP connection has carried no data. It is nil on QUIC connections.
	Quiet func() time.Duration
	// Left says whether a TCP connection's client has closed it, also where nobody has read so far. It is nil on QUIC connections.
	Left func() bool
	// Upgraded is set once a TCP connection is a websocket's.
	Upgraded atomic.Bool
	// Retire tells an HTTP/3 client that its further requests will be refused, so that it sends them elsewhere (GOAWAY; RFC 9114,
	// section 5.2). It returns when the connection has ended. It is nil on TCP connections.
	Retire func()
	// Lingers is set where a response ended before its request did: the connection then closes slowly (RFC 9112, section 9.6).
	Lingers atomic.Bool

	// SampledAt and SampledSent are the time of the last sample and the value of Sent then. They belong to the goroutine
	// that takes samples.
	SampledAt   time.Time
	SampledSent uint64
}

// NewID draws a connection's ID.
func NewID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(id[:])
}

// New makes a connection that began now, with a random ID. The caller sets Client and Read.
func New(t measure.Transport, now time.Time) *Connection {
	id := NewID()
	return &Connection{ID: func() string { return id }, Transport: t, Began: now, SampledAt: now}
}

// MayOffer says whether an offer of HTTP/3 on this connection leads to a server, as far as this program knows. c may be nil.
func (c *Connection) MayOffer() bool { return c == nil || c.Serves == nil || c.Serves.Load() }

// TakenBytes returns how many bytes the client's transport took. c may be nil.
func (c *Connection) TakenBytes() uint64 {
	if c == nil || c.Taken == nil {
		return 0
	}
	return c.Taken()
}

// RestsSince returns since when no request has been under way; now while one is.
func (c *Connection) RestsSince(now time.Time) time.Time {
	if since := c.Busy.restsSince(now); since.After(c.Began) {
		return since
	}
	return c.Began
}

// Sampled says whether the connection deserves samples: it has had a request, and its client's address is verified.
func (c *Connection) Sampled() bool {
	return c.Answering.Load() && (c.Verified == nil || c.Verified())
}

// ClientAddr returns a client's address in the form that leaves this package: an IPv4 client of a dual-stack socket is
// an IPv4 client, and a zone means something on this machine only.
func ClientAddr(a netip.AddrPort) netip.Addr {
	return a.Addr().Unmap().WithZone("")
}

// ClientOf returns the address of a connection's client. The address is invalid where c is nil.
func ClientOf(c *Connection) netip.Addr {
	if c == nil {
		return netip.Addr{}
	}
	return c.Client()
}

// Client is what counts as one client where there are limits for each: an IPv4 address, or an IPv6 /64, which is what one
// customer has. An address that is invalid gives an invalid prefix.
func Client(address netip.Addr) netip.Prefix {
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

type key struct{}

// WithConnection returns a context that carries c.
func WithConnection(ctx context.Context, c *Connection) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// ConnectionOf returns the connection that WithConnection put into a request's context, or nil.
func ConnectionOf(ctx context.Context) *Connection {
	c, _ := ctx.Value(key{}).(*Connection)
	return c
}
