// Package metadata is what the edge tells the worker about a request, and the visitor's page about its connection: the
// headers that only an edge may set, request.cf and Server-Timing. It sends nothing itself. Of this module it imports
// measure and visitor.
package metadata

import (
	"net/http"
	"strings"
)

// forgeable says whether a header is metadata that only an edge may set, so that nobody may believe a client's. Every character
// that is no letter or digit counts as a hyphen, because many servers read names so. CGI maps - to _ (RFC 3875, section 4.1.18),
// WSGI and Rack do the same and keep _, and Go's net/http/cgi also maps =. PHP maps . and space. Apache up to 2.2 and lighttpd map every
// character that is no letter or digit. Apache from 2.4 on, and nginx unless it is told to keep them, drop such names.
func forgeable(name string) bool {
	name = strings.Map(folded, name)
	switch name {
	case "true-client-ip", "x-real-ip", "forwarded":
		return true
	}
	return strings.HasPrefix(name, "cf-") || strings.HasPrefix(name, "mf-") || strings.HasPrefix(name, "x-forwarded-")
}

// folded is a character of a header's name in the spelling that forgeable compares.
func folded(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r - 'A' + 'a'
	case ('a' <= r && r <= 'z') || ('0' <= r && r <= '9'):
		return r
	}
	return '-'
}

// dropForgeable removes such headers, in any spelling.
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
	// HeaderCF carries request.cf as JSON: workerd's cfBlobHeader is set to this name, and wrangler dev reads it too.
	HeaderCF = "MF-CF-Blob"
)

// Set replaces the metadata that a client may have sent by what the edge knows: client is the visitor's address, and cf is
// request.cf as CF encodes it. Call it after the hop-by-hop headers were removed, because "Connection: CF-Connecting-IP"
// would remove the edge's own header. ReverseProxy calls Rewrite after that.
func Set(out *http.Request, client, cf string) {
	dropForgeable(out.Header)
	// Trailers arrive after the headers have been checked. No server needs a request's trailers, so they do not pass.
	out.Trailer = nil
	out.Header.Set(headerClientAddress, client)
	out.Header.Set(headerForwardedFor, client)
	out.Header.Set(headerForwardedProto, "https")
	out.Header.Set(headerForwardedHost, out.Host)
	out.Header.Set(HeaderCF, cf)
}
