package main

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// With -retry a handshake takes a round trip more: it cannot be complete before two of them.
func TestRetry(t *testing.T) {
	const roundTrip = 100 * time.Millisecond
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {}), "-config", "retry=true")
	path := startRelay(t, e.addresses[0], &udpRelay{delay: roundTrip})
	config := e.tlsConfig()
	config.NextProtos = []string{http3.NextProtoH3}
	ctx, cancel := context.WithTimeout(t.Context(), edgetest.Patience)
	defer cancel()
	began := time.Now()
	conn, err := quic.DialAddr(ctx, path.address, config, &quic.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
	if took := time.Since(began); took < 2*roundTrip {
		t.Errorf("the handshake took %s: there was no Retry", took)
	}
}
