package main

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

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
			e := startEdgeWith(t, startUpstream(t, func(http.ResponseWriter, *http.Request) {}), test.flags...)
			config := e.tlsConfig()
			config.NextProtos = []string{http3.NextProtoH3}
			config.ClientSessionCache = tls.NewLRUClientSessionCache(1)
			visit := func(method string) quic.ConnectionState {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				conn, err := quic.DialAddrEarly(ctx, e.addresses[0], config, &quic.Config{})
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
				return conn.ConnectionState()
			}
			if first := visit(http.MethodGet); first.TLS.DidResume || first.Used0RTT {
				t.Errorf("the first visit: resumed %t, 0-RTT %t", first.TLS.DidResume, first.Used0RTT)
			}
			if second := visit(test.method); !second.TLS.DidResume || second.Used0RTT != test.used {
				t.Errorf("the second visit: resumed %t, 0-RTT %t", second.TLS.DidResume, second.Used0RTT)
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
	transport := newTransport(opts.upstream, 1)
	defer transport.CloseIdleConnections()
	handler := newProxyHandler(opts, transport, newReporter(io.Discard, "", ""))
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
