package proxy

import (
	"net/http"
	"net/http/httputil"
	"strings"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/fields"
	"adaptive-h3/infra/edge/internal/upstream"
)

func (p *Handler) rewrite(pr *httputil.ProxyRequest) {
	pr.Out.URL.Scheme, pr.Out.URL.Host = "http", p.options.Upstream.URLHost()
	upstream.PassTarget(pr.Out.URL, pr.In.RequestURI)
	pr.Out.Host = pr.In.Host
	dropForeignUpgrade(pr.Out.Header)
	pr.Out.Header.Del("Te") // ReverseProxy keeps it for trailers, which do not pass
	fields.JoinCookies(pr.Out.Header)
	fields.Join(pr.Out.Header)

	// RFC 8470, section 5.1. A value that the client itself sent passes.
	if isEarly(pr.In) {
		pr.Out.Header.Set("Early-Data", "1")
	}
	p.addName(pr.Out.Header)
	connpath.SetHeaders(pr.Out, pr.In, p.options.AsCloudflare)
}

// isEarly says whether a request came in 0-RTT and its handshake is not complete yet. Such a request may be a replay
// (RFC 9001, section 9.2).
func isEarly(r *http.Request) bool { return r.TLS != nil && !r.TLS.HandshakeComplete }

// dropForeignUpgrade lets only websockets switch protocols. Another protocol would carry requests past this program, above
// all h2c, which is for cleartext (RFC 7540, section 3.2).
func dropForeignUpgrade(h http.Header) {
	if h.Get("Upgrade") != "" && !wantsWebsocket(h) {
		h.Del("Upgrade")
		h.Del("Connection")
	}
}

func wantsWebsocket(h http.Header) bool { return strings.EqualFold(h.Get("Upgrade"), "websocket") }
