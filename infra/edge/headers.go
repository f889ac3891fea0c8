package main

import (
	"net/http"
	"net/url"
	"strings"
)

// forgeable says whether a client must not be believed about this header: metadata that only an edge may set. Underscores
// count as hyphens, as some servers read them so (CGI, RFC 3875, section 4.1.18, maps both to the same variable).
func forgeable(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	switch name {
	case "true-client-ip", "x-real-ip", "forwarded":
		return true
	}
	return strings.HasPrefix(name, "cf-") || strings.HasPrefix(name, "mf-") || strings.HasPrefix(name, "x-forwarded-")
}

// dropForgeable removes such headers, under whatever spelling stands in the map.
func dropForgeable(h http.Header) {
	for name := range h {
		if forgeable(name) {
			delete(h, name)
		}
	}
}

// The metadata that the edge sets on every request.
const (
	headerClientAddress  = "CF-Connecting-IP"
	headerForwardedFor   = "X-Forwarded-For"
	headerForwardedProto = "X-Forwarded-Proto"
	headerForwardedHost  = "X-Forwarded-Host"
	// headerCF carries request.cf as JSON: workerd's cfBlobHeader is set to this name, and wrangler dev reads it too.
	headerCF = "MF-CF-Blob"
)

// setMetadata replaces what a client may have sent in out by what the edge knows. It has to run after the hop-by-hop
// headers were removed, or "Connection: CF-Connecting-IP" would take ours away; ReverseProxy calls Rewrite after that.
func setMetadata(out *http.Request, client, cf string) {
	dropForgeable(out.Header)
	// Trailers arrive after the decision about them: no server needs these, so none pass.
	out.Trailer = nil
	out.Header.Set(headerClientAddress, client)
	out.Header.Set(headerForwardedFor, client)
	out.Header.Set(headerForwardedProto, "https")
	out.Header.Set(headerForwardedHost, out.Host)
	out.Header.Set(headerCF, cf)
}

// dropForeignUpgrade leaves only websockets able to switch protocols. Above all h2c, which is for cleartext (RFC 7540,
// section 3.2), would carry requests past this program.
func dropForeignUpgrade(h http.Header) {
	if up := h.Get("Upgrade"); up != "" && !strings.EqualFold(up, "websocket") {
		h.Del("Upgrade")
		h.Del("Connection")
	}
}

// passTarget makes out ask for what in asked for, byte for byte: net/url would encode characters such as | anew, and
// ReverseProxy removes query parameters that it cannot parse.
func passTarget(out *url.URL, requestURI string) {
	path, query, hasQuery := strings.Cut(requestURI, "?")
	out.RawQuery, out.ForceQuery = query, hasQuery && query == ""
	// An opaque URL that begins with // would be taken for one with a host; and # has no place in a request.
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.Contains(requestURI, "#") {
		out.Opaque = path
	}
}
