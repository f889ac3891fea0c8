package upstream

import (
	"fmt"
	"net/url"
	"strings"
)

// These bytes of a target no worker gets as they are: workerd answers some with 400, takes # for the end of the target,
// and \ in a path for /. So they go percent-encoded, as browsers send them. Beside them, all bytes from 0x7f on.
const (
	encodedInPath  = "<>`\\#"
	encodedInQuery = "<>\"#"
	// net/url takes a path with one of these for one that nobody encoded, and encodes it anew from what it had decoded.
	encodedForURL = encodedInPath + "\"^{|}"
)

// PassTarget makes out ask for the request target requestURI (RFC 9112, section 3.2), byte for byte but for those above.
// net/url would encode characters such as | again, and ReverseProxy removes query parameters that it cannot parse.
func PassTarget(out *url.URL, requestURI string) {
	path, query, hasQuery := strings.Cut(requestURI, "?")
	out.RawQuery, out.ForceQuery = encode(query, encodedInQuery), hasQuery && query == ""
	if strings.HasPrefix(path, "//") {
		// net/http takes an opaque URL that begins so for one with a host.
		out.RawPath = encode(path, encodedForURL)
	} else if strings.HasPrefix(path, "/") {
		out.Opaque = encode(path, encodedInPath)
	}
}

// encode percent-encodes (RFC 3986, section 2.1) the bytes of s that are in chars, or above those of printable ASCII.
func encode(s, chars string) string {
	encoded := func(r rune) bool { return r >= 0x7f || strings.ContainsRune(chars, r) }
	if strings.IndexFunc(s, encoded) < 0 {
		return s
	}
	var to strings.Builder
	for i := range len(s) {
		if encoded(rune(s[i])) {
			fmt.Fprintf(&to, "%%%02X", s[i])
		} else {
			to.WriteByte(s[i])
		}
	}
	return to.String()
}
