package connpath

import (
	"maps"
	"net/http"
	"strings"
	"time"
)

// forgeable says whether a header is metadata that only the server in front may set, so that nobody may believe a client's. Every character
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

// HeaderCF carries request.cf as JSON: workerd's cfBlobHeader is set to this name, and wrangler dev reads it too.
const HeaderCF = "MF-CF-Blob"

// SetHeaders replaces the metadata that a client may have sent by what this package knows: the client's address, and request.cf as CF
// encodes it. in is the request as it came, with its connection in its context; out is what goes to the server behind. Call it after the
// hop-by-hop headers were removed, because "Connection: CF-Connecting-IP" would remove this package's own header. ReverseProxy calls
// Rewrite after that.
func SetHeaders(out, in *http.Request, asCloudflare bool) {
	c := FromContext(in.Context())
	client := ""
	if address := c.Client(); address.IsValid() {
		client = address.String()
	}
	maps.DeleteFunc(out.Header, func(name string, _ []string) bool { return forgeable(name) })
	// Trailers arrive after the headers have been checked. No server needs a request's trailers, so they do not pass.
	out.Trailer = nil
	out.Header.Set("CF-Connecting-IP", client)
	out.Header.Set("X-Forwarded-For", client)
	out.Header.Set("X-Forwarded-Proto", "https")
	out.Header.Set("X-Forwarded-Host", out.Host)
	out.Header.Set(HeaderCF, CF(in, c, asCloudflare, time.Now()))
}
