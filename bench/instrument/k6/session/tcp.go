package session

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
)

var alpn = map[Protocol]string{H1: "http/1.1", H2: "h2"}

// openTCP opens a connection of exactly the session's protocol. Only that protocol is offered in ALPN: a server without it
// is a failure that is seen, and not a measurement of something else.
func (s *Session) openTCP(ctx context.Context) (*connection, error) {
	protocol := s.tcpProtocol
	began := time.Now()
	dialer := tls.Dialer{NetDialer: &net.Dialer{}, Config: s.tlsConfig(alpn[protocol], s.config.Resumption.tcp)}
	if from := s.from(); from.IsValid() {
		dialer.NetDialer.LocalAddr = &net.TCPAddr{IP: from.AsSlice()}
	}
	origin := s.config.Origin
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(origin.Address, strconv.Itoa(origin.Port)))
	if err != nil {
		return nil, fmt.Errorf("TCP and TLS handshake: %w", err)
	}
	handshake := MsOf(time.Since(began))
	state := conn.(*tls.Conn).ConnectionState()
	if got := state.NegotiatedProtocol; got != alpn[protocol] && (protocol != H1 || got != "") {
		_ = conn.Close()
		return nil, fmt.Errorf("the server speaks %q, not %s", got, protocol)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(protocol == H1)
	protocols.SetHTTP2(protocol == H2)
	transport := &http.Transport{
		Protocols: protocols,
		// The response is counted as it was sent.
		DisableCompression: true,
		DialTLSContext:     func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}
	client, err := transport.NewClientConn(ctx, "https", s.authority)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	// Over HTTP/1.1 the end of a connection is announced in a response, and follows some time after it.
	var closing atomic.Bool
	return &connection{
		Connection: Connection{Protocol: protocol, Handshake: handshake},
		RoundTripper: roundTrip(func(request *http.Request) (*http.Response, error) {
			response, err := client.RoundTrip(request)
			if err != nil || response.Close {
				closing.Store(true)
			}
			return response, err
		}),
		alive: func() bool { return !closing.Load() && client.Err() == nil },
		close: func() {
			closing.Store(true)
			_ = client.Close()
		},
		resumed: func() (resumed, earlyData bool) { return state.DidResume, false },
	}, nil
}

// tlsConfig resumes what is in the cache; without one there is no resumption, over TCP as over QUIC.
func (s *Session) tlsConfig(nextProtocol string, tickets tls.ClientSessionCache) *tls.Config {
	return &tls.Config{
		RootCAs: s.roots,
		// Of an alternative service too the certificate must be the origin's (RFC 7838, section 2.1).
		ServerName:         s.config.Origin.Host,
		NextProtos:         []string{nextProtocol},
		ClientSessionCache: tickets,
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// One client and one server: as many tickets and tokens as sessions that follow each other could use.
const kept = 8

// Resumption is what a client keeps of its sessions with a server, as a browser does: TLS session tickets (RFC 8446, section
// 4.6.1), each transport's own, and QUIC's tokens for an address that was validated (RFC 9000, section 8.1.3). The zero
// value keeps nothing: a client that was never here.
type Resumption struct {
	// EarlyData sends requests over QUIC before the handshake is complete, where the ticket allows it (0-RTT; RFC 9001,
	// section 4.6). Over TCP Go's TLS has no early data.
	EarlyData bool

	tcp, quic tls.ClientSessionCache
	tokens    quic.TokenStore
}

// NewResumption knows nothing yet.
func NewResumption(earlyData bool) Resumption {
	return Resumption{
		EarlyData: earlyData,
		tcp:       tls.NewLRUClientSessionCache(kept),
		quic:      tls.NewLRUClientSessionCache(kept),
		tokens:    quic.NewLRUTokenStore(1, kept),
	}
}
