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
)

var alpn = map[Protocol]string{H1: "http/1.1", H2: "h2"}

// openTCP opens a connection of exactly the given protocol. Only that protocol is offered in ALPN: a server without it
// is a failure that is seen, and not a measurement of something else.
func (s *Session) openTCP(ctx context.Context, protocol Protocol) (*connection, error) {
	c := &connection{}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(protocol == H1)
	protocols.SetHTTP2(protocol == H2)
	transport := &http.Transport{
		Protocols: protocols,
		// The response is counted as it was sent.
		DisableCompression: true,
		DialTLSContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, report, err := s.dialTLS(ctx, protocol)
			c.Connection = report
			return conn, err
		},
	}
	client, err := transport.NewClientConn(ctx, "https", s.authority)
	if err != nil {
		return nil, err
	}
	// Over HTTP/1.1 the end of a connection is announced in a response, and follows some time after it.
	var closing atomic.Bool
	c.RoundTripper = roundTrip(func(request *http.Request) (*http.Response, error) {
		response, err := client.RoundTrip(request)
		if err != nil || response.Close {
			closing.Store(true)
		}
		return response, err
	})
	c.alive = func() bool { return !closing.Load() && client.Err() == nil }
	c.close = func() { _ = client.Close() }
	return c, nil
}

func (s *Session) dialTLS(ctx context.Context, protocol Protocol) (net.Conn, Connection, error) {
	began := time.Now()
	report := Connection{Protocol: protocol, Opened: began.Sub(s.began)}
	dialer := net.Dialer{}
	if from := s.from(); from.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: from.AsSlice()}
	}
	tcp, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(s.config.Address, strconv.Itoa(s.config.Port)))
	if err != nil {
		return nil, report, fmt.Errorf("connecting: %w", err)
	}
	report.Connect = time.Since(began)
	report.LocalPort = tcp.LocalAddr().(*net.TCPAddr).Port
	conn := tls.Client(tcp, s.tlsConfig(alpn[protocol], s.config.Resumption.tcpTickets()))
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = tcp.Close()
		return nil, report, fmt.Errorf("TLS handshake: %w", err)
	}
	report.Handshake = time.Since(began)
	report.Resumed = conn.ConnectionState().DidResume
	if got := conn.ConnectionState().NegotiatedProtocol; got != alpn[protocol] && (protocol != H1 || got != "") {
		_ = conn.Close()
		return nil, report, fmt.Errorf("the server speaks %q, not %s", got, protocol)
	}
	return conn, report, nil
}

// tlsConfig resumes what is in the cache; without one there is no resumption, over TCP as over QUIC.
func (s *Session) tlsConfig(nextProtocol string, tickets tls.ClientSessionCache) *tls.Config {
	return &tls.Config{
		RootCAs: s.config.Roots,
		// Of an alternative service too the certificate must be the origin's (RFC 7838, section 2.1).
		ServerName: s.config.Host,
		NextProtos: []string{nextProtocol},
		MinVersion: tls.VersionTLS12,

		ClientSessionCache: tickets,

		InsecureSkipVerify: s.config.InsecureSkipVerify,
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
