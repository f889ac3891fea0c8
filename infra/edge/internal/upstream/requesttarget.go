package upstream

import (
	"net/url"
	"strings"
)

// PassTarget makes out ask for what in asked for, byte for byte: net/url would encode characters such as | anew, and
// ReverseProxy removes query parameters that it cannot parse.
func PassTarget(out *url.URL, requestURI string) {
	path, query, hasQuery := strings.Cut(requestURI, "?")
	out.RawQuery, out.ForceQuery = query, hasQuery && query == ""
	// An opaque URL that begins with // would be taken for one with a host; and # has no place in a request.
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.Contains(requestURI, "#") {
		out.Opaque = path
	}
}
