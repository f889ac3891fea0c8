package upstream

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// restMargin is how long before its end a connection at rest is given up. The server's clock begins when it has sent an answer, the
// pool's when that is read, and a request has to arrive before the server closes. undici has the same margin.
const restMargin = time.Second

// Pool is a keep-alive pool of connections for visitors' requests. Where the server says how long a connection may rest (Keep-Alive:
// timeout=N, whole seconds), none rests for as long: a request that goes out while the server closes fails, and most cannot be sent
// again. The shortest time that the server ever said holds for all its connections.
type Pool struct {
	dial      dialer
	connected func(net.Conn)

	current atomic.Pointer[http.Transport]
	mu      sync.Mutex
	rest    time.Duration // that current allows; guarded by mu
}

// NewPool makes a pool of connections that dial opens. connected, if not nil, sees each new one.
func NewPool(dial dialer, connected func(net.Conn)) *Pool {
	p := &Pool{dial: dial, connected: connected, rest: idleTimeout}
	p.current.Store(newTransport(MaxIdle, dial, connected))
	return p
}

// NewTargetPool makes a pool of connections to t.
func NewTargetPool(t Target, connected func(net.Conn)) *Pool { return NewPool(t.dialAny, connected) }

// RoundTrip is http.RoundTripper's.
func (p *Pool) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := p.current.Load().RoundTrip(req)
	if err == nil {
		if said, ok := restOf(res.Header); ok {
			p.shorten(max(said-restMargin, 0))
		}
	}
	return res, err
}

// CloseIdleConnections closes the connections at rest.
func (p *Pool) CloseIdleConnections() { p.current.Load().CloseIdleConnections() }

func (p *Pool) shorten(rest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rest >= p.rest {
		return
	}
	// A transport's own bounds must not change while it is in use.
	next := newTransport(MaxIdle, p.dial, p.connected)
	next.IdleConnTimeout = rest
	if rest == 0 {
		next.MaxIdleConnsPerHost = -1 // none rests; a timeout of 0 would be none
	}
	p.rest = rest
	p.current.Swap(next).CloseIdleConnections()
}

// restOf reads timeout=N of Keep-Alive (RFC 2068, section 19.7.1.1), which HTTP/1.1 left to servers.
func restOf(h http.Header) (rest time.Duration, ok bool) {
	for _, value := range h["Keep-Alive"] {
		for _, parameter := range strings.Split(value, ",") {
			name, text, _ := strings.Cut(strings.TrimSpace(parameter), "=")
			if seconds, err := strconv.ParseUint(text, 10, 31); err == nil && strings.EqualFold(name, "timeout") {
				return time.Duration(seconds) * time.Second, true
			}
		}
	}
	return 0, false
}
