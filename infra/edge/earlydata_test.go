package main

import (
	"context"
	"crypto/tls"
	"net/http"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A client that comes again resumes; only with -early-data is its request taken before its handshake is complete.
func TestEarlyData(t *testing.T) {
	for _, test := range []struct {
		name, method string
		flags        []string
		used         bool
	}{
		{"GET", http3.MethodGet0RTT, []string{"-config", "early-data=true"}, true},
		{"HEAD", http3.MethodHead0RTT, []string{"-config", "early-data=true"}, true},
		{"without the flag", http3.MethodGet0RTT, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			told := make(chan string, 2)
			upstream := edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) { told <- r.Header.Get("Early-Data") })
			e := startEdgeWith(t, upstream, test.flags...)
			// So long after its request a client can complete its handshake at the earliest.
			path := startRelay(t, e.addresses[0], &udpRelay{delay: 300 * time.Millisecond})
			config := e.tlsConfig()
			config.NextProtos = []string{http3.NextProtoH3}
			config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
			visit := func(method string) (quic.ConnectionState, string) {
				ctx, cancel := context.WithTimeout(t.Context(), edgetest.Patience)
				defer cancel()
				conn, err := quic.DialAddrEarly(ctx, path.address, config, &quic.Config{})
				if err != nil {
					t.Fatal(err)
				}
				client := (&http3.Transport{}).NewClientConn(conn)
				defer client.CloseWithError(0, "")
				response := roundTrip(ctx, t, client, method, "https://localhost/")
				if response.StatusCode != http.StatusOK {
					t.Errorf("status %d", response.StatusCode)
				}
				<-conn.HandshakeComplete()
				return conn.ConnectionState(), response.Header.Get("Server-Timing")
			}
			first, timing := visit(http.MethodGet)
			if got := <-told; first.TLS.DidResume || first.Used0RTT || got != "" || timing == "" {
				t.Errorf("the first visit: resumed %t, 0-RTT %t, Early-Data %q, Server-Timing %q", first.TLS.DidResume, first.Used0RTT, got, timing)
			}
			// In 0-RTT nothing is measured yet that a response could tell.
			second, timing := visit(test.method)
			if got := <-told; !second.TLS.DidResume || second.Used0RTT != test.used || (got == "1") != test.used || (timing == "") != test.used {
				t.Errorf("the second visit: resumed %t, 0-RTT %t, Early-Data %q, Server-Timing %q", second.TLS.DidResume, second.Used0RTT, got, timing)
			}
		})
	}
}
