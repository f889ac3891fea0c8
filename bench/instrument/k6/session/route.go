package session

import (
	"context"

	"adaptive-h3/bench/instrument/k6/altsvc"
)

// route gives the connection for the next request, and opens it where there is none.
//
// An alternative counts as long as it is fresh. RFC 7838, section 2.2, lets a client go on over a connection to a stale
// one; Chromium does not: after clear, and once ma has run out, its next requests go over the origin's connection again
// although the HTTP/3 connection is still open (observed with Chromium 156). This client does as Chromium does.
func (s *Session) route(ctx context.Context) (*connection, error) {
	if connection, err := s.routeQUIC(ctx); connection != nil || err != nil {
		return connection, err
	}
	if s.tcpProtocol == H1 {
		return s.routeH1(ctx)
	}
	s.mu.Lock()
	if !s.h2.usable() {
		s.tcpUsed = true
		s.h2 = newAttempt(func() (*connection, error) { return s.opened(s.openTCP(s.ctx, H2)) })
	}
	h2 := s.h2
	s.mu.Unlock()
	select {
	case <-h2.done:
		return h2.connection, h2.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// routeQUIC gives an HTTP/3 connection, or none where TCP is to be used.
func (s *Session) routeQUIC(ctx context.Context) (*connection, error) {
	for {
		s.mu.Lock()
		alternative, ok := s.alternative()
		if !ok {
			s.mu.Unlock()
			return nil, nil
		}
		quic := s.quicAttempt(alternative)
		// A session without another connection has nothing to send its request over meanwhile.
		wait := s.config.Switch == SwitchWait || !s.tcpUsed
		s.mu.Unlock()
		if !wait && !quic.finished() {
			return nil, nil
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
		// The alternative is marked broken by now: the next one, or TCP.
	}
}

// alternative gives the first fresh HTTP/3 alternative that is not broken. The mutex is held.
func (s *Session) alternative() (altsvc.Alternative, bool) {
	for _, alternative := range s.cache.Fresh(s.origin, s.config.Now()) {
		if alternative.Protocol == "h3" && !s.broken[alternative.Authority()] {
			return alternative, true
		}
	}
	return altsvc.Alternative{}, false
}

// quicAttempt gives the connection to an alternative, being opened or open. The mutex is held.
func (s *Session) quicAttempt(alternative altsvc.Alternative) *attempt {
	authority := alternative.Authority()
	if current := s.quic[authority]; current.usable() {
		return current
	}
	forAltSvc := s.tcpUsed || s.altSvc != ""
	started := newAttempt(func() (*connection, error) {
		connection, err := s.openQUIC(s.ctx, alternative)
		if connection != nil {
			connection.forAltSvc = forAltSvc
		}
		// What the end of the session interrupts says nothing about the alternative.
		if err != nil && s.ctx.Err() == nil {
			s.mu.Lock()
			s.broken[authority] = true
			s.mu.Unlock()
		}
		return s.opened(connection, err)
	})
	s.quic[authority] = started
	return started
}

// routeH1 takes an idle connection out of the pool, or opens one. As many are open as there are requests under way, which
// the page bounds.
func (s *Session) routeH1(ctx context.Context) (*connection, error) {
	s.mu.Lock()
	for len(s.idleH1) > 0 {
		idle := s.idleH1[len(s.idleH1)-1]
		s.idleH1 = s.idleH1[:len(s.idleH1)-1]
		if idle.alive() {
			s.mu.Unlock()
			return idle, nil
		}
	}
	s.tcpUsed = true
	s.mu.Unlock()
	return s.opened(s.openTCP(ctx, H1))
}

// release gives a connection back after a complete response.
func (s *Session) release(c *connection) {
	if c.Protocol != H1 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idleH1 = append(s.idleH1, c)
}

// opened notes a new connection, so that it is reported, and closed at the end.
func (s *Session) opened(c *connection, err error) (*connection, error) {
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections = append(s.connections, c)
	return c, nil
}
