// Package session is one visit of one client: connections over HTTP/1.1, HTTP/2 and HTTP/3 that are its own, an
// Alt-Svc cache that is its own, and nothing left over from an earlier visit unless Config.Resumption carries it over.
package session

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"adaptive-h3/bench/instrument/k6/altsvc"
)

// Protocol is a version of HTTP, by its short name.
type Protocol string

// The protocols a session can begin with.
const (
	H1 Protocol = "h1"
	H2 Protocol = "h2"
	H3 Protocol = "h3"
)

// SwitchWait holds a session's requests while the QUIC connection of an offered alternative is being opened. With any other Switch
// they are sent over the old connection until the new one is there, as browsers do.
const SwitchWait = "wait"

const (
	// defaultParallel is the number of connections that browsers open to one origin over HTTP/1.1.
	defaultParallel = 6
	// defaultQUICTimeoutMs bounds a QUIC handshake. Where UDP is blocked a session waits that long, once.
	defaultQUICTimeoutMs = 2000
)

// Config is what a session is to be. Its fields are those of a load (plan.ts), and what differs from session to session.
type Config struct {
	Origin Origin
	// The source address; empty leaves it to the routing table.
	ClientAddress netip.Addr
	Switch        string
	// Subresources under way at a time.
	Parallel      int
	QUICTimeoutMs float64
	// A change of the client's address on the way; nil for none. For sessions that load one file at a time.
	Move *Move
	// Which seconds' bytes of bodies are reported; nil for all. For sessions without a Move.
	Counted *Window
	// What the kernel keeps of a QUIC connection's packets until they are read, as a program asks for it (the kernel books
	// twice as much); 0 leaves quic-go its own choice, 7 MiB where that is allowed.
	UDPReceiveBufferBytes int

	FirstProtocol Protocol `json:"-"`
	// What earlier sessions have left, and where this one leaves its own.
	Resumption Resumption `json:"-"`
	// The clock of Alt-Svc freshness only.
	Now func() time.Time `json:"-"`
}

// Origin is where the requests go. Without an address the host is looked up, without a file the system's roots count.
type Origin struct {
	Host    string
	Address string
	Port    int
	CAFile  string
}

// Session is one client session. It begins with Open, and its connections end with Close.
type Session struct {
	config    Config
	roots     *x509.CertPool
	authority string // host:port of the origin
	// What TCP connections speak: a session that begins with h3 falls back to h2.
	tcpProtocol Protocol
	began       time.Time       // of the first page
	ctx         context.Context // of the session: connections outlive the request that opened them
	cancel      context.CancelFunc

	moved     atomic.Bool
	openingH2 sync.Mutex

	mu            sync.Mutex
	clientAddress netip.Addr // what new connections are opened from
	cache         altsvc.Cache
	tcpUsed       bool
	idleTCP       []*connection
	quic          map[string]*attempt // by the alternative's authority
	connections   []*connection
	transports    []*quic.Transport
	report        Report
}

// Open begins a session, which the context bounds as a whole. It opens no connection yet.
func Open(ctx context.Context, config Config) (*Session, error) {
	config.Origin.Address = cmp.Or(config.Origin.Address, config.Origin.Host)
	config.Parallel = cmp.Or(config.Parallel, defaultParallel)
	config.QUICTimeoutMs = cmp.Or(config.QUICTimeoutMs, defaultQUICTimeoutMs)
	if config.Now == nil {
		config.Now = time.Now
	}
	roots, err := readRoots(config.Origin.CAFile)
	if err != nil {
		return nil, err
	}
	s := &Session{
		config:      config,
		roots:       roots,
		authority:   net.JoinHostPort(config.Origin.Host, strconv.Itoa(config.Origin.Port)),
		tcpProtocol: config.FirstProtocol,
		cache:       altsvc.Cache{Host: config.Origin.Host},
		quic:        map[string]*attempt{},
		report:      NewReport(),

		clientAddress: config.ClientAddress,
	}
	if config.FirstProtocol == H3 {
		// Such a client knows the alternative from an earlier visit, and forgets it like any other: by clear, by the next
		// Alt-Svc, or by its age.
		s.tcpProtocol = H2
		s.cache.Update([]string{`h3=":` + strconv.Itoa(config.Origin.Port) + `"`}, 0, config.Now())
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s, nil
}

// readRoots gives the certificates to trust; nil, the system's, without a file.
func readRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("caFile: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("caFile: no certificate in " + file)
	}
	return roots, nil
}

// from gives the address that a new connection is opened from; the zero address leaves it to the routing table.
func (s *Session) from() netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clientAddress
}

// Close ends the session: what is being opened is given up, and all connections are closed in an orderly way.
func (s *Session) Close() {
	s.cancel()
	s.Leave()
}

// Leave closes all connections in an orderly way, those too that are being opened, and returns when that is done. The client may come
// again: it keeps its Alt-Svc cache, what it resumes with, and which alternatives are broken: browsers try those again after five minutes.
func (s *Session) Leave() {
	s.mu.Lock()
	opening := s.quic
	s.quic, s.idleTCP, s.tcpUsed = map[string]*attempt{}, nil, false
	s.mu.Unlock()
	for _, attempt := range opening {
		<-attempt.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for authority, attempt := range opening {
		if attempt.err != nil {
			s.quic[authority] = attempt
		}
	}
	// Those of earlier visits are closed: to close them again changes nothing.
	for _, connection := range s.connections {
		connection.close()
	}
	for _, transport := range s.transports {
		_ = transport.Close()
		_ = transport.Conn.Close()
	}
	s.transports = nil
}
