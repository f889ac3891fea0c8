package upstream

import (
	"net/url"
	"strings"
)

// PassTarget makes out ask for the request target requestURI (RFC 9112, section 3.2), byte for byte. net/url would encode
// characters such as | again, and ReverseProxy removes query parameters that it cannot parse.
func PassTarget(out *url.URL, requestURI string) {
	path, query, hasQuery := strings.Cut(requestURI, "?")
	out.RawQuery, out.ForceQuery = query, hasQuery && query == ""
	// net/http takes an opaque URL that begins with // for one with a host, and # has no place in a request.
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.Contains(requestURI, "#") {
		out.Opaque = path
	}
}
