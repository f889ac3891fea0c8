package connpath

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// cfBlob is request.cf: Cloudflare's names and units, and one object of our own for what Cloudflare shows only in
// Server-Timing (cfL4). Zero means absent, except for counters.
type cfBlob struct {
	ClientTCPRTT         float64       `json:"clientTcpRtt,omitempty"`  // ms, over TCP only
	ClientQUICRTT        float64       `json:"clientQuicRtt,omitempty"` // ms, over QUIC only
	EdgeL4               *cfEdgeL4     `json:"edgeL4,omitempty"`
	Colo                 string        `json:"colo,omitempty"` // where a blob passes for Cloudflare's
	HTTPProtocol         string        `json:"httpProtocol"`
	TLSVersion           string        `json:"tlsVersion,omitempty"`
	TLSCipher            string        `json:"tlsCipher,omitempty"`
	ClientAcceptEncoding string        `json:"clientAcceptEncoding"` // workerd compresses by its own choice where it is missing
	AdaptiveH3           *cfAdaptiveH3 `json:"adaptiveH3,omitempty"`
}

type cfEdgeL4 struct {
	DeliveryRate uint64 `json:"deliveryRate"` // bytes per second
}

type cfAdaptiveH3 struct {
	ConnectionID string    `json:"connectionId"`
	Transport    Transport `json:"transport"`
	Stack        *Stack    `json:"stack,omitempty"`
	FirstRTTMs   float64   `json:"firstRttMs,omitempty"` // smoothed, when the first request came
	figures
}

// colo is no airport (IATA gives out no code that begins with Q).
const colo = "QQQ"

// CF returns request.cf as a header value: JSON in one line of printable ASCII. It describes the request and its
// connection as they are now. c is nil where no connection is known; one that cannot be read is no reason to fail the request.
//
// asCloudflare leaves out the connection's name and counters, as Cloudflare does, and adds the name of a place, by which a worker
// knows that Cloudflare has set it.
func CF(req *http.Request, c *Connection, asCloudflare bool, now time.Time) string {
	blob := cfBlob{
		HTTPProtocol:         httpProtocol(req.ProtoMajor, req.ProtoMinor),
		ClientAcceptEncoding: printable(strings.Join(req.Header.Values("Accept-Encoding"), ", ")),
	}
	if req.TLS != nil {
		blob.TLSVersion = tlsVersion(req.TLS.Version)
		blob.TLSCipher = tlsCipher(req.TLS.CipherSuite)
	}
	if c != nil {
		blob.describe(c, now)
	}
	if asCloudflare {
		blob.AdaptiveH3, blob.Colo = nil, colo
	}
	text, err := json.Marshal(blob)
	if err != nil {
		return "{}" // cannot happen: no field can fail
	}
	return string(text)
}

func (b *cfBlob) describe(c *Connection, now time.Time) {
	b.AdaptiveH3 = &cfAdaptiveH3{ConnectionID: c.ID(), Transport: c.Transport, Stack: c.Stack}
	r, ok := c.Read()
	if !ok {
		return
	}
	c.noteFirstRTT(r) // a request has come
	b.AdaptiveH3.FirstRTTMs = milliseconds(time.Duration(c.firstRTT.Load()))
	b.AdaptiveH3.figures = figuresOf(r, c.busy.until(now))
	if c.Transport == TCP {
		b.ClientTCPRTT = milliseconds(r.RTT)
	} else {
		b.ClientQUICRTT = milliseconds(r.RTT)
	}
	if r.DeliveryRate > 0 {
		b.EdgeL4 = &cfEdgeL4{DeliveryRate: r.DeliveryRate}
	}
}

// printable replaces bytes that have no place in an Accept-Encoding (RFC 9110, section 12.5.3), so that the blob stays ASCII.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

func httpProtocol(major, minor int) string {
	if major == 1 {
		return "HTTP/1." + strconv.Itoa(minor)
	}
	return "HTTP/" + strconv.Itoa(major)
}

func tlsVersion(v uint16) string { return strings.Replace(tls.VersionName(v), "TLS ", "TLSv", 1) }

// openssl makes OpenSSL's name of a cipher of Go's.
var openssl = strings.NewReplacer("TLS_", "", "_WITH_", "-", "AES_128", "AES128", "AES_256", "AES256", "_CBC", "", "POLY1305_SHA256", "POLY1305", "_", "-")

// tlsCipher returns the names that Cloudflare uses: OpenSSL's, and for TLS 1.3 BoringSSL's older ones.
func tlsCipher(id uint16) string {
	switch id {
	case tls.TLS_AES_128_GCM_SHA256:
		return "AEAD-AES128-GCM-SHA256"
	case tls.TLS_AES_256_GCM_SHA384:
		return "AEAD-AES256-GCM-SHA384"
	case tls.TLS_CHACHA20_POLY1305_SHA256:
		return "AEAD-CHACHA20-POLY1305-SHA256"
	}
	return openssl.Replace(tls.CipherSuiteName(id))
}
