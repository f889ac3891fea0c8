package main

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

// connecting says how a transport connects.
type connecting struct {
	protocol string // h1, h2 or h3
	caFile   string // PEM file of the certificate to trust; "": the system's
	// dialTimeout bounds a TCP connection's set-up.
	dialTimeout time.Duration
	// idleTimeout is how long a QUIC connection may hear nothing from the server; 0: the default of quic-go.
	idleTimeout time.Duration
	from        string // the address to connect from; "": the system's choice
	onConnect   func() // nil, or called when a connection was made
}

// newTransport returns a transport of one protocol alone, with at most one connection to each host, and what closes it.
func newTransport(o connecting) (http.RoundTripper, func(), error) {
	tlsConfig := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.caFile != "" {
		pem, err := os.ReadFile(o.caFile)
		if err != nil {
			return nil, nil, fmt.Errorf("-ca: %w", err)
		}
		tlsConfig.RootCAs = x509.NewCertPool()
		if !tlsConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, nil, fmt.Errorf("-ca: no certificate in %s", o.caFile)
		}
	}
	connected := func() {
		if o.onConnect != nil {
			o.onConnect()
		}
	}
	if o.protocol == "h3" {
		transport := &http3.Transport{TLSClientConfig: tlsConfig, DisableCompression: true}
		transport.Dial = func(ctx context.Context, addr string, t *tls.Config, c *quic.Config) (*quic.Conn, error) {
			c = c.Clone()
			c.MaxIdleTimeout = o.idleTimeout
			conn, err := dialQUIC(ctx, o.from, addr, t, c)
			if err == nil {
				connected()
			}
			return conn, err
		}
		return transport, func() { _ = transport.Close() }, nil
	}
	protocols := new(http.Protocols)
	switch o.protocol {
	case "h1":
		protocols.SetHTTP1(true)
	case "h2":
		protocols.SetHTTP2(true)
	default:
		return nil, nil, fmt.Errorf("-protocol: %q is none of h1, h2, h3", o.protocol)
	}
	dialer := &net.Dialer{Timeout: o.dialTimeout}
	if o.from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(o.from)}
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
