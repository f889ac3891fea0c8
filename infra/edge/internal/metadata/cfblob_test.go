package metadata

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/visitor/visitortest"
)

func TestCFVectors(t *testing.T) {
	const ms = time.Millisecond
	encode := func(
		major int, version, cipher uint16, accept []string, id string, tr measure.Transport, r measure.Reading, ok bool, busy time.Duration,
	) string {
		req := &http.Request{
			ProtoMajor: major, ProtoMinor: 1, Header: http.Header{"Accept-Encoding": accept},
			TLS: &tls.ConnectionState{Version: version, CipherSuite: cipher},
		}
		c := visitortest.Connection(id, tr, "192.0.2.7:1", r, ok)
		visitortest.AnswersFor(c, busy)
		return CF(req, c, r, ok, c.Began.Add(time.Hour))
	}
	edgetest.CheckVectors(t, "../../testdata/cf.json", map[string]string{
		"HTTP/2 over TCP": encode(2, tls.VersionTLS13, tls.TLS_AES_128_GCM_SHA256, []string{"gzip, deflate, br", "zstd"},
			"0123456789abcdef", measure.TCP, visitortest.ReadingTCP, true, 480*ms),
		"HTTP/3 over QUIC": encode(3, tls.VersionTLS13, tls.TLS_CHACHA20_POLY1305_SHA256, []string{"gzip, br"},
			"fedcba9876543210", measure.QUIC, visitortest.ReadingQUIC, true, 455*ms),
		"HTTP/1.1, TLS 1.2, first request: no rate yet, no Accept-Encoding": encode(1, tls.VersionTLS12,
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, nil, "00000000000000ff", measure.TCP,
			measure.Reading{RTT: visitortest.ReadingNoRate.RTT, MinRTT: visitortest.ReadingNoRate.MinRTT}, true, 0),
		"HTTP/3, no RTT measured": encode(3, tls.VersionTLS13, tls.TLS_AES_128_GCM_SHA256, []string{"br"},
			"00000000000000aa", measure.QUIC, visitortest.ReadingNoRTT, true, 1900*time.Microsecond),
		"the connection could not be read": encode(2, tls.VersionTLS13, tls.TLS_AES_256_GCM_SHA384, []string{"\"\xff\\"},
			"00000000000000bb", measure.TCP, measure.Reading{}, false, 480*ms),
	})
}

// A worker takes it for Cloudflare's: it has a place, an RTT and a rate, and nothing that Cloudflare does not tell.
func TestCFAsCloudflare(t *testing.T) {
	c := visitortest.Connection("0123456789abcdef", measure.TCP, "192.0.2.7:1", visitortest.ReadingTCP, true)
	text := CFAsCloudflare(&http.Request{ProtoMajor: 2}, c, visitortest.ReadingTCP, true, c.Began)
	var blob map[string]any
	if err := json.Unmarshal([]byte(text), &blob); err != nil {
		t.Fatal(err)
	}
	rtt, _ := blob["clientTcpRtt"].(float64)
	_, hasOwn := blob["adaptiveH3"]
	if blob["colo"] != colo || rtt <= 0 || blob["edgeL4"] == nil || hasOwn {
		t.Error(text)
	}
}

// The request that the blob describes is under way itself, and others may be.
func TestCFCountsWhatIsUnderWay(t *testing.T) {
	c := visitortest.Connection("0123456789abcdef", measure.TCP, "192.0.2.7:1", visitortest.ReadingTCP, true)
	visitortest.AnswersFor(c, 100*time.Millisecond)
	c.Busy.Begin(c.Began.Add(time.Second))
	text := CF(&http.Request{ProtoMajor: 2}, c, visitortest.ReadingTCP, true, c.Began.Add(1300*time.Millisecond))
	var blob struct{ AdaptiveH3 struct{ BusyMs int } }
	if err := json.Unmarshal([]byte(text), &blob); err != nil || blob.AdaptiveH3.BusyMs != 400 {
		t.Errorf("%d ms, want 400 (%v): %s", blob.AdaptiveH3.BusyMs, err, text)
	}
}

func BenchmarkCFBlob(b *testing.B) {
	req := &http.Request{
		ProtoMajor: 2, Header: http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}},
		TLS: &tls.ConnectionState{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256},
	}
	c := visitortest.Connection("0123456789abcdef", measure.TCP, "192.0.2.7:1", visitortest.ReadingTCP, true)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		_ = CF(req, c, visitortest.ReadingTCP, true, now)
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
