package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// rawTLS opens a connection for HTTP/1.1 written by hand.
func (e *testEdge) rawTLS() *tls.Conn {
	e.t.Helper()
	config := e.tlsConfig()
	config.ServerName = "localhost"
	config.NextProtos = []string{"http/1.1"}
	c, err := tls.Dial("tcp", e.addresses[0], config)
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { c.Close() })
	return c
}

// metadataLike is what a server might take for metadata, whichever way it reads names.
var metadataLike = regexp.MustCompile(`(?i)^((cf|mf|x[^a-z0-9]forwarded)[^a-z0-9].*|true[^a-z0-9]client[^a-z0-9]ip|x[^a-z0-9]real[^a-z0-9]ip|forwarded)$`)

// withHost puts the host back where net/http takes it from.
func withHost(r *http.Request) http.Header {
	h := r.Header.Clone()
	h.Set("Host", r.Host)
	return h
}

// reno is an address with the one congestion control that every kernel has and allows.
const reno = "127.0.0.1:0,congestion=reno"

// checkMetadata looks at what reached the upstream, over any protocol.
func checkMetadata(t *testing.T, h http.Header, protocol string) {
	t.Helper()
	for _, name := range []string{"Cf-Connecting-Ip", "X-Forwarded-For"} {
		if got := h[name]; len(got) != 1 || got[0] != "127.0.0.1" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := h["X-Forwarded-Proto"]; len(got) != 1 || got[0] != "https" {
		t.Errorf("X-Forwarded-Proto: %q", got)
	}
	if got := h["X-Forwarded-Host"]; len(got) != 1 || got[0] != h.Get("Host") {
		t.Errorf("X-Forwarded-Host: %q, Host: %q", got, h.Get("Host"))
	}
	ours := []string{"Cf-Connecting-Ip", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Mf-Cf-Blob"}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if metadataLike.MatchString(name) && !slices.Contains(ours, name) {
			t.Errorf("%s: %q came through", name, h[name])
		}
	}
	if len(h["Mf-Cf-Blob"]) != 1 {
		t.Fatalf("MF-CF-Blob: %q", h["Mf-Cf-Blob"])
	}
	var cf struct {
		HTTPProtocol  string
		ClientTCPRTT  float64 `json:"clientTcpRtt"`
		ClientQUICRTT float64 `json:"clientQuicRtt"`
		TLSVersion    string
		AdaptiveH3    struct {
			ConnectionID string
			Transport    string
			PacketsSent  *int
			BusyMs       *int
			RTTMs        float64
			Stack        map[string]string
		}
	}
	if err := json.Unmarshal([]byte(h.Get("Mf-Cf-Blob")), &cf); err != nil {
		t.Fatal(err)
	}
	rtt, other, transport := cf.ClientTCPRTT, cf.ClientQUICRTT, "tcp"
	if protocol == "HTTP/3" {
		rtt, other, transport = other, rtt, "quic"
	}
	if cf.HTTPProtocol != protocol || cf.TLSVersion != "TLSv1.3" || len(cf.AdaptiveH3.ConnectionID) != 16 ||
		cf.AdaptiveH3.Transport != transport || cf.AdaptiveH3.PacketsSent == nil || cf.AdaptiveH3.BusyMs == nil {
		t.Errorf("request.cf: %s", h.Get("Mf-Cf-Blob"))
	}
	// The senders of the address, over either protocol: what a client says of them changes nothing.
	if got := cf.AdaptiveH3.Stack; len(got) != 2 || got["tcp"] != "reno" || got["quic"] != "quic-go" {
		t.Errorf("stack: %s", h.Get("Mf-Cf-Blob"))
	}
	// Over loopback RTTs are far below a second, and not rounded to whole ms, which would be 0.
	if rtt <= 0 || rtt > 500 || other != 0 || cf.AdaptiveH3.RTTMs != rtt {
		t.Errorf("RTTs: %s", h.Get("Mf-Cf-Blob"))
	}
}

func TestForgedMetadataIsReplaced(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		headers := make(chan http.Header, 1)
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			h := withHost(r)
			maps.Copy(h, r.Trailer)
			headers <- h
		}), "-listen", reno)
		req, err := http.NewRequest(http.MethodPost, e.url("/"), strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = -1 // trailers need an open end
		forged := `{"clientTcpRtt":1,"botManagement":{"verifiedBot":true},"adaptiveH3":{"stack":{"tcp":"forged"}}}`
		for _, name := range []string{
			"CF-Connecting-IP", "CF-IPCountry", "cf_connecting_ip", "MF-CF-Blob", "mf_cf_blob", "True-Client-IP", "X-Real-IP",
			"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X_Forwarded_For",
			"X.Forwarded.For", "CF.Connecting.IP", "X!Real~IP", "CF-Stack", "MF-Stack",
		} {
			req.Header[name] = []string{forged, "203.0.113.9"}
		}
		req.Trailer = http.Header{"Cf-Connecting-Ip": {"203.0.113.9"}, "Mf-Cf-Blob": {forged}}
		res, err := e.client(protocol).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		checkMetadata(t, edgetest.Receive(t, "request", headers), protocol)
	})
}

// What only a client that writes its bytes by hand can send.
func TestForgedMetadataByHand(t *testing.T) {
	lines := map[string]string{
		"hop by hop":    "Connection: CF-Connecting-IP, MF-CF-Blob, X-Forwarded-For, X-Forwarded-Proto",
		"odd case":      "cF-cOnNeCtInG-iP: 203.0.113.9\r\nMF-cf-BLOB: {}",
		"underscores":   "CF_CONNECTING_IP: 203.0.113.9\r\nmf_cf_blob: {}",
		"doubled":       "CF-Connecting-IP: 203.0.113.9\r\nCF-Connecting-IP: 203.0.113.10",
		"hop and odd":   "Connection: close, mf-CF-blob\r\nmf-CF-blob: {}",
		"foreign proto": "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			headers := make(chan http.Header, 1)
			e := startEdgeWith(t, edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) { headers <- withHost(r) }), "-listen", reno)
			c := e.rawTLS()
			fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", line)
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			h := edgetest.Receive(t, "request", headers)
			checkMetadata(t, h, "HTTP/1.1")
			if h.Get("Upgrade") != "" {
				t.Errorf("Upgrade: %s came through", h.Get("Upgrade"))
			}
		})
	}
	// A name that is no token is no header: RFC 9110, section 5.1.
	t.Run("space before the colon", func(t *testing.T) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) { t.Error("it came through") }))
		c := e.rawTLS()
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: localhost\r\nCF-Connecting-IP : 203.0.113.9\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Error(res.Status)
		}
	})
}
