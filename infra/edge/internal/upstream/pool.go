package upstream

import (
	"net"
	"net/http"
	"regexp"
	"slices"
	"sync/atomic"
)

// restsShortly finds a Keep-Alive (RFC 2068, section 19.7.1.1, which HTTP/1.1 left to servers) by which a connection may rest for less
// than idleTimeout and a second. The server's clock begins when it has sent an answer, the pool's when that is read, and a request has
// to arrive before the server closes. undici leaves a second for that too.
var restsShortly = regexp.MustCompile(`(?i)\btimeout=0*[0-4]\b`)

// Pool is a keep-alive pool of connections for visitors' requests. Once the server says that its connections rest for a short time, none
// rests any more: a request that goes out while the server closes fails, and most cannot be sent again.
type Pool struct {
	keeping, closing *http.Transport
	closes           atomic.Bool
}

// NewPool makes a pool of connections that dial opens. connected, if not nil, sees each new one.
func NewPool(dial dialer, connected func(net.Conn)) *Pool {
	return &Pool{keeping: newTransport(MaxIdle, dial, connected), closing: newTransport(-1, dial, connected)}
}

// RoundTrip is http.RoundTripper's.
func (p *Pool) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.closes.Load() {
		return p.closing.RoundTrip(req)
	}
	res, err := p.keeping.RoundTrip(req)
	if err == nil && slices.ContainsFunc(res.Header["Keep-Alive"], restsShortly.MatchString) {
		p.closes.Store(true)
		p.CloseIdleConnections()
	}
	return res, err
}

// CloseIdleConnections closes the connections at rest.
func (p *Pool) CloseIdleConnections() { p.keeping.CloseIdleConnections() }
