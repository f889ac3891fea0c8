package session

import (
	"context"
	"net/http"
	"net/netip"

	"adaptive-h3/bench/instrument/k6/altsvc"
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
	// resumed says what the report has. Over QUIC it is known for good once the handshake is complete.
	resumed func() (resumed, earlyData bool)
	// forAltSvc says that an Alt-Svc field made the session open it.
	forAltSvc bool
}

// attempt is a QUIC connection being opened, for everyone who waits for it.
type attempt struct {
	done       chan struct{} // closed once connection or err is set
	connection *connection
	err        error
}

func (a *attempt) finished() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

// route gives the connection for the next request, and opens it where there is none.
//
// An alternative counts as long as it is fresh. RFC 7838, section 2.2, lets a client go on over a connection to a stale
// one; Chromium does not: after clear, and once ma has run out, its next requests go over the origin's connection again
// although the HTTP/3 connection is still open (observed with Chromium 156). This client does as Chromium does.
func (s *Session) route(ctx context.Context) (*connection, error) {
	for {
		s.mu.Lock()
		quic := s.quicAttempt()
		// A session without another connection has nothing to send its request over meanwhile.
		wait := s.config.Switch == SwitchWait || !s.tcpUsed
		s.mu.Unlock()
		if quic == nil || !wait && !quic.finished() {
			return s.routeTCP(ctx)
		}
		select {
		case <-quic.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if quic.err == nil {
			return quic.connection, nil
		}
		if s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		// The alternative is broken: the next one, or TCP.
	}
}

// quicAttempt gives the connection to the first fresh HTTP/3 alternative that is not broken, being opened or open; nil
// where there is none. An alternative whose handshake failed is broken for the rest of the session. The mutex is held.
func (s *Session) quicAttempt() *attempt {
	for _, alternative := range s.cache.Fresh(s.config.Now()) {
		current := s.quic[alternative.Authority()]
		switch {
		case current == nil || current.finished() && current.err == nil && !current.connection.alive():
			return s.startQUIC(alternative)
		case !current.finished() || current.err == nil:
			return current
		}
	}
	return nil
}

// startQUIC begins to open a connection. The mutex is held.
func (s *Session) startQUIC(alternative altsvc.Alternative) *attempt {
	forAltSvc := s.tcpUsed || s.report.AltSvc != ""
	a := &attempt{done: make(chan struct{})}
	s.quic[alternative.Authority()] = a
	go func() {
		defer close(a.done)
		a.connection, a.err = s.openQUIC(s.ctx, alternative)
		if a.err == nil {
			a.connection.forAltSvc = forAltSvc
			s.opened(a.connection)
			return
		}
		// What the end of the session interrupts says nothing about the alternative.
		s.mu.Lock()
		s.report.Broken = s.report.Broken || s.ctx.Err() == nil
		s.mu.Unlock()
	}()
	return a
}

// routeTCP takes a connection that may take a request, or opens one. Over HTTP/2 it is one, however many requests come at
// once. Over HTTP/1.1 as many are open as there are requests under way, which the page bounds.
func (s *Session) routeTCP(ctx context.Context) (*connection, error) {
	if s.tcpProtocol == H2 {
		s.openingH2.Lock()
		defer s.openingH2.Unlock()
	}
	if idle := s.takeIdle(); idle != nil {
		return idle, nil
	}
	connection, err := s.openTCP(ctx)
	if err != nil {
		return nil, err
	}
	s.opened(connection)
	if s.tcpProtocol == H2 {
		s.mu.Lock()
		s.idleTCP = append(s.idleTCP, connection)
		s.mu.Unlock()
	}
	return connection, nil
}

func (s *Session) takeIdle() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tcpUsed = true
	for last := len(s.idleTCP) - 1; last >= 0; last-- {
		idle := s.idleTCP[last]
		if idle.Protocol == H1 || !idle.alive() {
			s.idleTCP = s.idleTCP[:last]
		}
		if idle.alive() {
			return idle
		}
	}
	return nil
}

// release gives a connection over HTTP/1.1 back after a complete response.
func (s *Session) release(c *connection) {
	if c.Protocol != H1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idleTCP = append(s.idleTCP, c)
}
