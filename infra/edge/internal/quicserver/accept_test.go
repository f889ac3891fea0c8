package quicserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// Three times as many clients as quic-go lets wait come at once, and none is refused.
func TestManyConnectionsAtOnce(t *testing.T) {
	const clients = 100
	borrowed := httptest.NewTLSServer(nil) // its certificate
	defer borrowed.Close()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	transport := &quic.Transport{Conn: udp}
	defer transport.Close()
	listener, err := transport.Listen(http3.ConfigureTLSConfig(borrowed.TLS.Clone()), nil)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan *quic.Conn, clients)
	ended := acceptAll(listener, func(conn *quic.Conn) { served <- conn })

	ctx, cancel := context.WithTimeout(t.Context(), edgetest.Patience)
	defer cancel()
	config := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{http3.NextProtoH3}}
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			conn, err := quic.DialAddr(ctx, udp.LocalAddr().String(), config, &quic.Config{HandshakeIdleTimeout: edgetest.Patience})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
		})
	}
	all.Wait()
	for i := range clients {
		if err := context.Cause(edgetest.Receive(t, "connection", served).Context()); err != nil {
			t.Errorf("connection %d has ended: %v", i, err)
		}
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	for range acceptors {
		if err := edgetest.Receive(t, "end", ended); !errors.Is(err, quic.ErrServerClosed) {
			t.Errorf("after the listener's end: %v", err)
		}
	}
}
