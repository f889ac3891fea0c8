package operator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
)

// askAll makes a handshake with every place, all at the same time, until ctx ends.
func askAll(ctx context.Context, protocol string, places []Place, leaf *x509.Certificate, connect dial) []HandshakeAnswer {
	answers := make([]HandshakeAnswer, len(places))
	var all sync.WaitGroup
	for i, p := range places {
		all.Go(func() { answers[i] = ask(ctx, protocol, p, leaf, connect) })
	}
	all.Wait()
	return answers
}

// dial opens a connection, and returns what closes it.
type dial func(ctx context.Context, at netip.AddrPort, leaf *x509.Certificate) (end func() error, err error)

func ask(ctx context.Context, protocol string, p Place, leaf *x509.Certificate, connect dial) HandshakeAnswer {
	answer := HandshakeAnswer{Address: p.Address}
	began := time.Now()
	end, err := connect(ctx, p.ReachedAt, leaf)
	if err == nil {
		answer.HandshakeMs = float64(time.Since(began).Microseconds()) / 1000
		err = end()
	}
	if err == nil && protocol == "HTTP/3" && !p.Serves.Load() {
		err = errors.New("it is not offered yet")
	}
	if answer.OK = err == nil; err != nil {
		answer.problem = fmt.Sprintf("%s on %s: %v", protocol, p.Address, err)
	}
	return answer
}

// dialTCP opens a connection for HTTP/2.
func dialTCP(ctx context.Context, at netip.AddrPort, leaf *x509.Certificate) (end func() error, err error) {
	dialer := tls.Dialer{Config: configFor("h2", leaf)}
	c, err := dialer.DialContext(ctx, "tcp", at.String())
	if err != nil {
		return nil, err
	}
	return c.Close, nil
}

// dialQUIC opens a connection for HTTP/3.
func dialQUIC(ctx context.Context, at netip.AddrPort, leaf *x509.Certificate) (end func() error, err error) {
	c, err := quic.DialAddr(ctx, at.String(), configFor("h3", leaf), &quic.Config{})
	if err != nil {
		return nil, err
	}
	return func() error { return c.CloseWithError(0, "") }, nil
}

// configFor wants this certificate, whatever its names.
func configFor(protocol string, leaf *x509.Certificate) *tls.Config {
	return &tls.Config{
		NextProtos:         []string{protocol},
		InsecureSkipVerify: true, // the names are not this machine's: the certificate is compared as a whole
		VerifyConnection: func(c tls.ConnectionState) error {
			if !c.PeerCertificates[0].Equal(leaf) {
				return errors.New("another certificate than this server's own")
			}
			return nil
		},
	}
}
