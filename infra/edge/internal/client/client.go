// Package client is the client of the tests and the experiments: a transport that speaks one protocol only. It imports nothing
// of this module.
package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// Options says how a transport connects.
type Options struct {
	Protocol string // h1, h2 or h3
	CAFile   string // PEM file of the certificate to trust; "": the system's
	// DialTimeout bounds a TCP connection's set-up.
	DialTimeout time.Duration
	// IdleTimeout is how long a QUIC connection may hear nothing from the server; 0: the default of quic-go.
	IdleTimeout time.Duration
	// From is the address to connect from; "": the system's choice.
	From string
	// OnConnect, if set, is told when a connection was made.
	OnConnect func()
}

// New returns a transport with at most one connection to each host, and what closes it.
func New(o Options) (http.RoundTripper, func(), error) {
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, nil, fmt.Errorf("-ca: %w", err)
		}
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, nil, fmt.Errorf("-ca: no certificate in %s", o.CAFile)
		}
	}
	connected := func() {
		if o.OnConnect != nil {
			o.OnConnect()
		}
	}
	if o.Protocol == "h3" {
		transport := &http3.Transport{TLSClientConfig: tlsConfig, DisableCompression: true}
		transport.Dial = func(ctx context.Context, addr string, t *tls.Config, c *quic.Config) (*quic.Conn, error) {
			c = c.Clone()
			c.MaxIdleTimeout = o.IdleTimeout
			conn, err := dialQUIC(ctx, o.From, addr, t, c)
			if err == nil {
				connected()
			}
			return conn, err
		}
		return transport, func() { _ = transport.Close() }, nil
	}
	protocols := new(http.Protocols)
	switch o.Protocol {
	case "h1":
		protocols.SetHTTP1(true)
	case "h2":
		protocols.SetHTTP2(true)
	default:
		return nil, nil, fmt.Errorf("-protocol: %q is none of h1, h2, h3", o.Protocol)
	}
	dialer := &net.Dialer{Timeout: o.DialTimeout}
	if o.From != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(o.From)}
	}
	transport := &http.Transport{
		TLSClientConfig:    tlsConfig,
		Protocols:          protocols,
		DisableCompression: true,
		MaxConnsPerHost:    1,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err == nil {
				connected()
			}
			return conn, err
		},
	}
	return transport, transport.CloseIdleConnections, nil
}

// dialQUIC dials over a socket of its own, which ends with the connection.
func dialQUIC(ctx context.Context, from, addr string, t *tls.Config, c *quic.Config) (*quic.Conn, error) {
	if from == "" {
		return quic.DialAddrEarly(ctx, addr, t, c)
	}
	to, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(from)})
	if err != nil {
		return nil, err
	}
	transport := &quic.Transport{Conn: socket}
	end := func() { _, _ = transport.Close(), socket.Close() }
	conn, err := transport.DialEarly(ctx, to, t, c)
	if err != nil {
		end()
		return nil, err
	}
	context.AfterFunc(conn.Context(), end)
	return conn, nil
}
