// Package connpath measures the connections of a Go HTTP server, and says what it measured. It reads RTT, losses and delivery rate of
// TCP from the kernel (TCP_INFO). For QUIC it takes them from an implementation of [QUICConn], and measures the delivery rate
// itself. Whatever it says comes from the connection that carries the request:
//
//   - [CF] has the fields of Cloudflare's request.cf, and [SetHeaders] hands them to a worker behind.
//   - [ServerTiming] has Cloudflare's metric cfL4, for the page.
//   - A [Sample] is one reading, which a [Registry] takes while a connection sends, when its client moves, and at its end.
//
// A server wraps its TCP listener in a [Listener], gives [ConnContext] to http.Server, and enters connections in a Registry. Where it
// serves QUIC, it calls [NewQUIC] for each connection, and [NewContext] in http3.Server's ConnContext. Its handler calls RequestBegins
// and RequestEnds around each request, and WriteBegins and WriteEnds around each write of a response: see the example.
//
// The package imports x/sys, no QUIC library and nothing else of this module. It needs Linux, on amd64 or arm64.
package connpath

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Connection is one client's connection. Whoever makes it sets the fields before it adds the connection to a Registry. Afterwards only
// the atomics change.
type Connection struct {
	Transport Transport
	Began     time.Time

	// Close closes the connection. A second call does nothing.
	Close func()
	// Verified says whether the handshake is complete, which shows that the address is the client's own. Until then the
	// connection is not sampled. It is nil where a connection exists only after its handshake.
	Verified func() bool
	// Retire tells an HTTP/3 client that its further requests will be refused, so that it sends them elsewhere (GOAWAY; RFC 9114,
	// section 5.2). It returns when the connection has ended, or grace. It is nil on TCP connections.
	Retire func(grace context.Context)
	// Rehearse sends so many bytes, for nobody to read, at rate bytes per second at most, then small packets, and returns once the path has
	// shown what it drops of them, or a request has come. It is nil on TCP connections.
	Rehearse func(bytes int, rate uint64)
	// Serves says whether HTTP/3 serves on the same port number, where an offer on this connection leads. It is nil on QUIC
	// connections, and where HTTP/3 is off.
	Serves *atomic.Bool
	// Stack names what sends on the address that serves the connection, whichever protocol it speaks. One Stack serves all connections of an
	// address. It is nil where nobody names it.
	Stack *Stack

	// The rest is for TCP connections only.

	// Abort closes the connection at once, and throws away what it still has to send.
	Abort func()
	// Quiet returns for how long the connection has carried no data.
	Quiet func() time.Duration
	// Delivered returns for how long the client has had all that was sent to it; 0 while some of it waits or is on its way.
	Delivered func() time.Duration
	// Left says whether the client has closed the connection, also where nobody has read so far.
	Left func() bool
	// TLS is the connection's TLS, once the server has it.
	TLS atomic.Pointer[tls.Conn]
	// Upgraded is set once the connection is a websocket's.
	Upgraded atomic.Bool
	// HeldOffer is an Alt-Svc that a later response of the connection carries; nil: none.
	HeldOffer atomic.Pointer[HeldOffer]
	// Lingers is set where a response ended before its request did: the connection then closes slowly (RFC 9112, section 9.6).
	Lingers atomic.Bool

	read func() (Reading, bool)
	from netip.Addr // where it began
	at   atomic.Pointer[stay]
	move sync.Mutex // of Moved
	quic QUICConn   // nil: TCP
	rate *rateMeter // QUIC only; the kernel keeps TCP's
	busy busy

	answering atomic.Bool
	retiring  atomic.Bool
	offered   atomic.Bool
	rehearses atomic.Bool
	rehearsed atomic.Uint64 // bytes that nobody reads
	sent      atomic.Uint64 // bytes handed to the transport, counted without a system call
	firstRTT  atomic.Int64  // nanoseconds, smoothed, before the connection carried anything; 0: not known

	// The time of the last sample and the value of sent then, and since when sent is as it is. They belong to the goroutine that takes samples.
	sampledAt   time.Time
	sampledSent uint64
	scannedAt   time.Time
	scannedSent uint64
}

// Stack names the senders of an address: which of HTTP/2 and HTTP/3 is faster depends on them more than on the protocols. A worker reads
// it in request.cf.
type Stack struct {
	TCP  string `json:"tcp"`            // the congestion control, as the kernel names it (TCP_CONGESTION)
	QUIC string `json:"quic,omitempty"` // the software that sends over QUIC; empty where HTTP/3 is off
}

// HeldOffer is the value of an Alt-Svc, the host that it was of, whether its response leads on to the page, and when it was to go out.
type HeldOffer struct {
	Value, Host string
	LeadsOn     bool
	At          time.Time
}

// stay is the time that a client spends at one address (RFC 9000, section 9).
type stay struct {
	id     string
	client netip.Addr
	before Reading // of the connection, when the client came there
}

// New makes a connection of client that began now, and that read reads.
func New(t Transport, client netip.Addr, read func() (Reading, bool), now time.Time) *Connection {
	c := &Connection{Transport: t, Began: now, Close: func() {}, read: read, from: client, sampledAt: now}
	c.at.Store(&stay{id: newID(), client: client})
	return c
}

func newID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(id[:])
}

// ID names the connection in samples, and says nothing about the client: 16 hexadecimal digits, random. A QUIC client that has
// moved has another one, and what is counted begins anew.
func (c *Connection) ID() string { return c.at.Load().id }

// Client returns the client's address, without zone, an IPv4-mapped one unmapped. A QUIC client may move. The address is invalid
// where c is nil, or where nobody knows it.
func (c *Connection) Client() netip.Addr {
	if c == nil {
		return netip.Addr{}
	}
	return c.at.Load().client
}

// Read reads the connection. It returns false where it cannot be read any more.
func (c *Connection) Read() (Reading, bool) {
	r, ok := c.read()
	return r.since(c.at.Load().before), ok
}

// RequestBegins notes that a request has come. c may be nil.
func (c *Connection) RequestBegins(now time.Time) {
	if c == nil {
		return
	}
	c.answering.Store(true)
	c.busy.begin(now)
	if c.rate != nil {
		c.sent.Add(1) // for the header, whose length does not matter
	}
}

// noteFirstRTT notes the smoothed RTT of the first reading that has one. It is for readings before a response or a rehearsal: later there is
// a queue of the connection's own in it, and the smallest one is far below most where the delay varies.
func (c *Connection) noteFirstRTT(r Reading) { c.firstRTT.CompareAndSwap(0, int64(r.RTT)) }

// RequestEnds notes that a request was answered, or given up. c may be nil.
func (c *Connection) RequestEnds(now time.Time) {
	if c == nil {
		return
	}
	c.busy.end(now)
	if c.rate != nil {
		c.rate.responseEnds(now)
	}
}

// WriteBegins notes that the transport gets bytes of a response, or a flush. It does nothing for TCP, which the kernel measures. c may
// be nil.
func (c *Connection) WriteBegins() {
	if c != nil && c.rate != nil {
		c.rate.writeBegins(time.Now())
	}
}

// WriteEnds notes that the transport took n bytes. c may be nil.
func (c *Connection) WriteEnds(n int) {
	if c != nil && c.rate != nil {
		c.rate.writeEnds(time.Now(), n)
		c.sent.Add(uint64(n))
	}
}

// Answering says whether the connection has had a request. Before that it has sent nothing but its handshake, and is not sampled: port
// scanners and unused preconnects are no clients.
func (c *Connection) Answering() bool { return c.answering.Load() }

// Sent returns how many bytes of responses and rehearsals were handed to the transport.
func (c *Connection) Sent() uint64 { return c.sent.Load() }

// RehearsalBegins says whether it is the first.
func (c *Connection) RehearsalBegins() bool {
	if r, ok := c.read(); ok {
		c.noteFirstRTT(r)
	}
	return c.rehearses.CompareAndSwap(false, true)
}

// RehearsalBegan says whether there was one.
func (c *Connection) RehearsalBegan() bool { return c.rehearses.Load() }

// Offers notes that a response offers HTTP/3. c may be nil.
func (c *Connection) Offers() {
	if c != nil {
		c.offered.Store(true)
	}
}

// Offered says whether a response has offered HTTP/3.
func (c *Connection) Offered() bool { return c.offered.Load() }

// Rehearsed notes that Rehearse has sent n bytes.
func (c *Connection) Rehearsed(n int) {
	c.rehearsed.Add(uint64(n))
	c.sent.Add(uint64(n))
}

// Sampled says whether the connection deserves samples: it has had a request, or a rehearsal, and its client's address is verified.
func (c *Connection) Sampled() bool {
	return (c.Answering() || c.rehearsed.Load() > 0) && (c.Verified == nil || c.Verified())
}

// TakeBack asks a client once not to send further requests over HTTP/3, and does not wait until it has. It does nothing on TCP
// connections. c may be nil.
func (c *Connection) TakeBack() {
	if c != nil && c.Retire != nil && c.retiring.CompareAndSwap(false, true) {
		go c.Retire(context.Background())
	}
}

// TakenBack says whether TakeBack has asked the client.
func (c *Connection) TakenBack() bool { return c.retiring.Load() }

// MayOffer says whether an offer of HTTP/3 on this connection leads to a server, as far as this program knows. c may be nil.
func (c *Connection) MayOffer() bool { return c == nil || c.Serves == nil || c.Serves.Load() }

// RestsSince returns since when no request has been under way; now while one is.
func (c *Connection) RestsSince(now time.Time) time.Time {
	if since := c.busy.restsSince(now); since.After(c.Began) {
		return since
	}
	return c.Began
}

// ClientAddr returns a client's address in the form that leaves this package: an IPv4 client of a dual-stack socket is
// an IPv4 client, and a zone means something on this machine only.
func ClientAddr(a net.Addr) netip.Addr {
	var at netip.AddrPort
	switch a := a.(type) {
	case *net.TCPAddr:
		at = a.AddrPort()
	case *net.UDPAddr:
		at = a.AddrPort()
	}
	return at.Addr().Unmap().WithZone("")
}

type key struct{}

// NewContext returns a context that carries c.
func NewContext(ctx context.Context, c *Connection) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// FromContext returns the connection that NewContext put into a request's context, or nil.
func FromContext(ctx context.Context) *Connection {
	c, _ := ctx.Value(key{}).(*Connection)
	return c
}
