package proxy

import (
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// refusals are the requests about which nobody behind is asked, in the order in which they are looked for. HTTP/1.1's server refuses the
// first two itself; those of HTTP/2 and HTTP/3 pass them on.
var refusals = []struct {
	status int
	reason string
	when   func(p *Handler, r *http.Request) bool
}{
	{http.StatusBadRequest, "the method is no token", func(_ *Handler, r *http.Request) bool { return !httpguts.ValidHeaderFieldName(r.Method) }},
	// In the upstream's request line the space would begin another word.
	{http.StatusBadRequest, "a space in the request target", func(_ *Handler, r *http.Request) bool { return strings.Contains(r.RequestURI, " ") }},
	// Only OPTIONS may ask for it (RFC 9112, section 3.2.4), of a server as a whole. No worker can be asked so.
	{http.StatusBadRequest, "no path in the request target", func(_ *Handler, r *http.Request) bool { return r.RequestURI == "*" }},
	{http.StatusLoopDetected, "the origin leads back to this server", (*Handler).hasPassed},
	// HTTP/1.0 allows it, and every version allows an empty one (RFC 9112, section 3.2). The upstream's own name would stand there.
	{http.StatusBadRequest, "no Host in the request", func(_ *Handler, r *http.Request) bool { return r.Host == "" }},
	{http.StatusBadRequest, "the Host is not one that a URL can have", func(_ *Handler, r *http.Request) bool { _, ok := hostName(r.Host); return !ok }},
	// A tunnel is no request to an origin. Websockets over HTTP/3 come this way too (RFC 9220, section 3, names this status).
	{http.StatusNotImplemented, "CONNECT is not supported", func(_ *Handler, r *http.Request) bool { return r.Method == http.MethodConnect }},
	// The application behind trusts X-Forwarded-Host, and makes links of it (RFC 9110, section 15.5.20).
	{http.StatusMisdirectedRequest, "this server has no such host", (*Handler).isMisdirected},
	// RFC 8470, section 5.2: the client sends it again once the handshake is complete.
	{http.StatusTooEarly, "not before the handshake is complete", func(_ *Handler, r *http.Request) bool {
		return isEarly(r) && r.Method != http.MethodGet && r.Method != http.MethodHead
	}},
}

// isMisdirected says whether a request is for a host that is not here, and counts it.
func (p *Handler) isMisdirected(r *http.Request) bool {
	name, _ := hostName(r.Host)
	if p.options.Covers == nil || p.options.Covers(name) {
		return false
	}
	p.misdirected.Add(1)
	return true
}
