package metadata

import (
	"crypto/tls"
	"net/http"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/visitor/visitortest"
)

func TestCFVectors(t *testing.T) {
	encode := func(major int, version, cipher uint16, accept []string, id string, tr measure.Transport, r measure.Reading, ok bool) string {
		req := &http.Request{
			ProtoMajor: major, ProtoMinor: 1, Header: http.Header{"Accept-Encoding": accept},
			TLS: &tls.ConnectionState{Version: version, CipherSuite: cipher},
		}
		return CF(req, visitortest.Connection(id, tr, "192.0.2.7:1", r, ok), r, ok)
	}
	edgetest.CheckVectors(t, "../../testdata/cf.json", map[string]string{
		"HTTP/2 over TCP": encode(2, tls.VersionTLS13, tls.TLS_AES_128_GCM_SHA256, []string{"gzip, deflate, br", "zstd"},
			"0123456789abcdef", measure.TCP, visitortest.ReadingTCP, true),
		"HTTP/3 over QUIC": encode(3, tls.VersionTLS13, tls.TLS_CHACHA20_POLY1305_SHA256, []string{"gzip, br"},
			"fedcba9876543210", measure.QUIC, visitortest.ReadingQUIC, true),
		"HTTP/1.1, TLS 1.2, first request: no rate yet, no Accept-Encoding": encode(1, tls.VersionTLS12,
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, nil, "00000000000000ff", measure.TCP,
			measure.Reading{RTT: visitortest.ReadingNoRate.RTT, MinRTT: visitortest.ReadingNoRate.MinRTT}, true),
		"HTTP/3, no RTT measured": encode(3, tls.VersionTLS13, tls.TLS_AES_128_GCM_SHA256, []string{"br"},
			"00000000000000aa", measure.QUIC, visitortest.ReadingNoRTT, true),
		"the connection could not be read": encode(2, tls.VersionTLS13, tls.TLS_AES_256_GCM_SHA384, []string{"\"\xff\\"},
			"00000000000000bb", measure.TCP, measure.Reading{}, false),
	})
}

func BenchmarkCFBlob(b *testing.B) {
	req := &http.Request{
		ProtoMajor: 2, Header: http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}},
		TLS: &tls.ConnectionState{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256},
	}
	c := visitortest.Connection("0123456789abcdef", measure.TCP, "192.0.2.7:1", visitortest.ReadingTCP, true)
	b.ReportAllocs()
	for b.Loop() {
		_ = CF(req, c, visitortest.ReadingTCP, true)
	}
}

func BenchmarkServerTiming(b *testing.B) {
	c := visitortest.Connection("0123456789abcdef", measure.TCP, "192.0.2.7:1", visitortest.ReadingTCP, true)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		_ = ServerTiming(c, visitortest.ReadingTCP, now)
	}
}
