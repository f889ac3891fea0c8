package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A burst of new clients is served, and not refused for being more than quic-go lets wait: a browser would not come back.
//
// The 400 handshakes take 4 s of both cores' time under the race detector, and quic-go gives one up that hears nothing for 5 s.
// So on a busy machine some end in a timeout, which says nothing about refusals: it is enough that many more came through than
// quic-go lets wait (32).
func TestBurstOfQUICConnections(t *testing.T) {
	const clients, enough = 400, 100
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {}))
	config := e.tlsConfig()
	config.NextProtos = []string{http3.NextProtoH3}
	ctx, cancel := context.WithTimeout(t.Context(), edgetest.Patience)
	defer cancel()
	failures := make(chan error, clients)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			conn, err := quic.DialAddr(ctx, e.addresses[0], config, &quic.Config{HandshakeIdleTimeout: edgetest.Patience})
			if err != nil {
				failures <- err
				return
			}
			// The handshake is complete for the client before the server has accepted, or refused, it.
			stream, err := conn.AcceptUniStream(ctx)
			if err != nil {
				failures <- err
				return
			}
			stream.CancelRead(quic.StreamErrorCode(http3.ErrCodeNoError))
			_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
		})
	}
	all.Wait()
	close(failures)
	served := clients
	for err := range failures {
		served--
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Error(err)
		}
	}
	if served < enough {
		t.Errorf("%d of %d were served", served, clients)
	}
}
