package connpath

import (
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

func TestCFVectors(t *testing.T) {
	encode := func(
		major int, version, cipher uint16, accept []string, id string, tr Transport, stack *Stack, r Reading, ok bool, busy time.Duration,
	) string {
		req := &http.Request{
			ProtoMajor: major, ProtoMinor: 1, Header: http.Header{"Accept-Encoding": accept},
			TLS: &tls.ConnectionState{Version: version, CipherSuite: cipher},
		}
		c := fake(id, tr, "192.0.2.7:1", r, ok)
		c.Stack = stack
		answersFor(c, busy)
		return CF(req, c, false, c.Began.Add(time.Hour))
	}
	edgetest.CheckVectors(t, "../testdata/cf.json", map[string]string{
		"HTTP/2 over TCP": encode(2, tls.VersionTLS13, tls.TLS_AES_128_GCM_SHA256, []string{"gzip, deflate, br", "zstd"},
			"0123456789abcdef", TCP, &Stack{"bbr", "quic-go"}, readingTCP, true, 480*ms),
		"HTTP/3 over QUIC": encode(3, tls.VersionTLS13, tls.TLS_CHACHA20_POLY1305_SHA256, []string{"gzip, br"},
			"fedcba9876543210", QUIC, &Stack{"cubic", "quic-go"}, readingQUIC, true, 455*ms),
		"HTTP/1.1, TLS 1.2, first request: no rate yet, no Accept-Encoding": encode(1, tls.VersionTLS12,
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, nil, "00000000000000ff", TCP, &Stack{TCP: "cubic"},
			Reading{RTT: readingNoRate.RTT, MinRTT: readingNoRate.MinRTT}, true, 0),
		"HTTP/3, no RTT measured": encode(3, tls.VersionTLS13, tls.TLS_AES_128_GCM_SHA256, []string{"br"},
			"00000000000000aa", QUIC, &Stack{"bbr", "quic-go"}, readingNoRTT, true, 1900*time.Microsecond),
		"the connection could not be read": encode(2, tls.VersionTLS13, tls.TLS_AES_256_GCM_SHA384, []string{"\"\xff\\"},
			"00000000000000bb", TCP, nil, Reading{}, false, 480*ms),
	})
}

func TestTLSCipher(t *testing.T) {
	for id, want := range map[uint16]string{
		tls.TLS_AES_256_GCM_SHA384:                        "AEAD-AES256-GCM-SHA384",
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256:       "ECDHE-ECDSA-AES128-GCM-SHA256",
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256:         "ECDHE-RSA-AES128-GCM-SHA256",
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384:       "ECDHE-ECDSA-AES256-GCM-SHA384",
		tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384:         "ECDHE-RSA-AES256-GCM-SHA384",
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: "ECDHE-ECDSA-CHACHA20-POLY1305",
		tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256:   "ECDHE-RSA-CHACHA20-POLY1305",
		tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA:            "ECDHE-RSA-AES128-SHA",
		0:                                                 "0x0000",
	} {
		if got := tlsCipher(id); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A worker takes it for Cloudflare's: it has a place, an RTT and a rate, and nothing that Cloudflare does not tell.
func TestCFAsCloudflare(t *testing.T) {
	c := fake("0123456789abcdef", TCP, "192.0.2.7:1", readingTCP, true)
	text := CF(&http.Request{ProtoMajor: 2}, c, true, c.Began)
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
	c := fake("0123456789abcdef", TCP, "192.0.2.7:1", readingTCP, true)
	answersFor(c, 100*time.Millisecond)
	c.busy.begin(c.Began.Add(time.Second))
	text := CF(&http.Request{ProtoMajor: 2}, c, false, c.Began.Add(1300*ms))
	var blob struct{ AdaptiveH3 struct{ BusyMs int } }
	if err := json.Unmarshal([]byte(text), &blob); err != nil || blob.AdaptiveH3.BusyMs != 400 {
		t.Errorf("%d ms, want 400 (%v): %s", blob.AdaptiveH3.BusyMs, err, text)
	}
}

// movable is a QUIC connection whose client may move, and whose RTT changes.
type movable struct {
	address net.UDPAddr
	rtt     time.Duration
}

func (m *movable) RemoteAddr() net.Addr { return &m.address }
func (m *movable) Read() Reading        { return Reading{RTT: m.rtt, MinRTT: 20 * ms} }

// Before a connection carried anything its RTT has no queue of its own in it.
func TestFirstRTT(t *testing.T) {
	start := time.UnixMilli(0)
	m := &movable{address: net.UDPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 1}}
	c := NewQUIC(m, start)
	expect := func(when string, want float64) {
		t.Helper()
		var blob struct{ AdaptiveH3 struct{ FirstRTTMs float64 } }
		err := json.Unmarshal([]byte(CF(&http.Request{ProtoMajor: 3}, c, false, start)), &blob)
		if got := blob.AdaptiveH3.FirstRTTMs; err != nil || got != want {
			t.Errorf("%s: %v ms, want %v (%v)", when, got, want, err)
		}
	}
	c.RequestBegins(start)
	expect("nothing measured yet", 0)
	m.rtt = 50 * ms
	c.RequestBegins(start)
	expect("measured", 50)
	m.rtt = 300 * ms
	c.RequestBegins(start)
	expect("a queue", 50)
	m.address.IP = net.IPv4(192, 0, 2, 8)
	c.Moved(start, func(*Connection) { expect("as it was", 50) })
	m.rtt = 0
	expect("another network", 0)
	m.rtt = 70 * ms
	if !c.RehearsalBegins() {
		t.Error("no rehearsal")
	}
	m.rtt = 90 * ms
	c.RequestBegins(start)
	expect("before the rehearsal", 70)
}

func BenchmarkCFBlob(b *testing.B) {
	req := &http.Request{
		ProtoMajor: 2, Header: http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}},
		TLS: &tls.ConnectionState{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256},
	}
	c := fake("0123456789abcdef", TCP, "192.0.2.7:1", readingTCP, true)
	c.Stack = &Stack{"bbr", "quic-go"}
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		_ = CF(req, c, false, now)
	}
}

func BenchmarkServerTiming(b *testing.B) {
	c := fake("0123456789abcdef", TCP, "192.0.2.7:1", readingTCP, true)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		_ = ServerTiming(c, now)
	}
}
