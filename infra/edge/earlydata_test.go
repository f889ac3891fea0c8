package main

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// A client that comes again resumes; only with -early-data is its request taken before its handshake is complete.
func TestEarlyData(t *testing.T) {
	for _, test := range []struct {
		name, method string
		flags        []string
		used         bool
	}{
		{"GET", http3.MethodGet0RTT, []string{"-early-data"}, true},
		{"HEAD", http3.MethodHead0RTT, []string{"-early-data"}, true},
		{"without the flag", http3.MethodGet0RTT, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			told := make(chan string, 2)
			upstream := startUpstream(t, func(_ http.ResponseWriter, r *http.Request) { told <- r.Header.Get("Early-Data") })
			e := startEdgeWith(t, upstream, test.flags...)
			// So long after its request a client can complete its handshake at the earliest.
			path := startRelay(t, e.addresses[0], &udpRelay{delay: 300 * time.Millisecond})
			config := e.tlsConfig()
			config.NextProtos = []string{http3.NextProtoH3}
			config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
			visit := func(method string) (quic.ConnectionState, string) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				conn, err := quic.DialAddrEarly(ctx, path.address, config, &quic.Config{})
				if err != nil {
					t.Fatal(err)
				}
				client := (&http3.Transport{}).NewClientConn(conn)
				defer client.CloseWithError(0, "")
				request, err := http.NewRequestWithContext(ctx, method, "https://localhost/", nil)
				if err != nil {
					t.Fatal(err)
				}
				response, err := client.RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
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

// The upstream is told of a request that may be a replay; one that may act twice is refused until nobody can send it again.
func TestEarlyRequests(t *testing.T) {
	told := make(chan string, 1)
	upstream := startUpstream(t, func(_ http.ResponseWriter, r *http.Request) { told <- r.Header.Get("Early-Data") })
	opts, err := parseOptions([]string{"-upstream", upstream, "-early-data"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	transport := newTransport(opts.upstream, 1, nil)
	defer transport.CloseIdleConnections()
	handler := newProxyHandler(opts, transport, newRequestBounds(opts, newReporter(io.Discard)).desk, newReporter(io.Discard, "", ""))
	for _, test := range []struct {
		method   string
		complete bool
		status   int
		told     string
	}{
		{http.MethodGet, false, http.StatusOK, "1"},
		{http.MethodHead, false, http.StatusOK, "1"},
		{http.MethodGet, true, http.StatusOK, ""},
		{http.MethodPost, true, http.StatusOK, ""},
		{http.MethodPost, false, http.StatusTooEarly, "nothing"},
		{http.MethodDelete, false, http.StatusTooEarly, "nothing"},
	} {
		request := httptest.NewRequest(test.method, "https://localhost/", nil)
		request.TLS = &tls.ConnectionState{HandshakeComplete: test.complete}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		got := "nothing"
		select {
		case got = <-told:
		default:
		}
		if answer.Code != test.status || got != test.told {
			t.Errorf("%s, handshake complete %t: status %d, the upstream was told %q", test.method, test.complete, answer.Code, got)
		}
	}
}

// A client that never completes its handshake may not be who it says: nobody is told of its path.
func TestSamplesWaitForTheHandshake(t *testing.T) {
	verified := false
	c := newConnection(transportQUIC, time.Now())
	c.answering.Store(true)
	c.verified = func() bool { return verified }
	c.client = func() netip.Addr { return netip.MustParseAddr("192.0.2.7") }
	c.read = func() (reading, bool) { return reading{}, true }
	samples := 0
	s := &sampler{registry: newRegistry(), emit: func(pathSample) { samples++ }}
	s.closing(c, time.Now())
	verified = true
	if s.closing(c, time.Now()); samples != 1 {
		t.Errorf("%d samples, not the one after the handshake", samples)
	}
}
