package proxy

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/upstream"
)

// stubUpstream answers every request at once.
type stubUpstream struct{}

func (stubUpstream) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: 5,
		Header: http.Header{"Content-Type": {"text/plain"}, "Content-Length": {"5"}},
		Body:   io.NopCloser(strings.NewReader("hello")),
	}, nil
}

// discardWriter is a response writer that keeps the header only.
type discardWriter struct{ h http.Header }

func (w *discardWriter) Header() http.Header         { return w.h }
func (w *discardWriter) WriteHeader(int)             {}
func (w *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *discardWriter) Flush()                      {}

// stubQUIC is a connection that always reads the same.
type stubQUIC struct{}

func (stubQUIC) RemoteAddr() net.Addr { return &net.UDPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 1} }
func (stubQUIC) Read() connpath.Reading {
	return connpath.Reading{RTT: 12 * time.Millisecond, MinRTT: 10 * time.Millisecond, PacketsSent: 700, PacketsLost: 3, BytesSent: 1_000_000}
}

// patientOptions end nothing while a test runs: a timeout of zero would end a response at its first slow write.
func patientOptions(target upstream.Target) Options {
	return Options{
		Upstream: target, UpstreamTimeout: time.Hour, BodyTimeout: time.Hour, UnreadTimeout: time.Hour, SlowestRate: 1000, ServerTiming: true,
	}
}

// oneRequest returns a function that answers the same small request each time, over a connection of the transport.
func oneRequest(transport connpath.Transport, protoMajor int) func() {
	log := errorlog.New(io.Discard)
	target := upstream.Target{Network: "tcp", Address: "127.0.0.1:1"}
	options := patientOptions(target)
	handler := New(options, stubUpstream{}, upstream.NewBounds(upstream.RequestLimits{}, log).Desk(), log)
	c := connpath.New(transport, netip.MustParseAddr("192.0.2.7"), func() (connpath.Reading, bool) { return stubQUIC{}.Read(), true }, time.UnixMilli(0))
	if transport == connpath.QUIC {
		c = connpath.NewQUIC(stubQUIC{}, time.UnixMilli(0))
	}
	r := httptest.NewRequest(http.MethodGet, "https://localhost/a?b=c", nil)
	r.ProtoMajor = protoMajor
	r.TLS = &tls.ConnectionState{HandshakeComplete: true, Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256}
	r.Header.Set("Accept-Encoding", "gzip, br")
	r = r.WithContext(connpath.NewContext(r.Context(), c))
	w := &discardWriter{http.Header{}}
	return func() {
		clear(w.h)
		handler.ServeHTTP(w, r)
	}
}

func BenchmarkHandler(b *testing.B) {
	for name, answer := range map[string]func(){"TCP": oneRequest(connpath.TCP, 2), "QUIC": oneRequest(connpath.QUIC, 3)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				answer()
			}
		})
	}
}
