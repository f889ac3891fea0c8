package session

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"adaptive-h3/bench/instrument/k6/altsvc"
)

// Session is one client session. It begins with Open, and its connections end with Close.
type Session struct {
	config    Config
	origin    altsvc.Origin
	authority string // host:port of the origin
	// What TCP connections speak: a session that begins with h3 falls back to h2.
	tcpProtocol Protocol
	began       time.Time
	ctx         context.Context // of the session: connections outlive the request that opened them
	cancel      context.CancelFunc
	cache       altsvc.Cache

	moved atomic.Bool

	mu            sync.Mutex
	clientAddress netip.Addr // what new connections are opened from
	tcpUsed       bool
	h2            *attempt
	idleH1        []*connection
	quic          map[string]*attempt // by the alternative's authority
	broken        map[string]bool     // alternatives whose handshake failed, for the rest of the session
	connections   []*connection
	responses     []Response
	pages         []time.Duration
	firstByte     time.Duration
	altSvc        string
	switched      bool
}

// Open begins a session, which the context bounds as a whole. It opens no connection yet.
func Open(ctx context.Context, config Config) (*Session, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Session{
		config:        config,
		origin:        altsvc.Origin{Host: config.Host, Port: config.Port},
		authority:     net.JoinHostPort(config.Host, strconv.Itoa(config.Port)),
		tcpProtocol:   config.FirstProtocol,
		began:         time.Now(),
		clientAddress: config.ClientAddress,
		quic:          map[string]*attempt{},
		broken:        map[string]bool{},
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	if config.FirstProtocol == H3 {
		// Such a client knows the alternative from an earlier visit, and forgets it like any other: by clear, by the next
		// Alt-Svc, or by its age.
		s.tcpProtocol = H2
		known := []string{`h3=":` + strconv.Itoa(config.Port) + `"`}
		if err := s.cache.Update(s.origin, known, 0, config.Now()); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// from gives the address that a new connection is opened from; the zero address leaves it to the routing table.
func (s *Session) from() netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clientAddress
}

// Close closes all connections in an orderly way, and returns when that is done.
func (s *Session) Close() {
	s.cancel()
	s.mu.Lock()
	attempts := make([]*attempt, 0, len(s.quic)+1)
	for _, quic := range s.quic {
		attempts = append(attempts, quic)
	}
	if s.h2 != nil {
		attempts = append(attempts, s.h2)
	}
	s.mu.Unlock()
	for _, attempt := range attempts {
		<-attempt.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, connection := range s.connections {
		connection.close()
	}
}
