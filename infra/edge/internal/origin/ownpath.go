package origin

import (
	"net/url"
	"path"
	"strings"
)

// ownPrefix is where the worker's API is: a request there may carry a token, which is nobody else's to see.
const ownPrefix = "/_h3"

// workersOwn says whether the worker might take a request for one of its own. The worker resolves dot segments and reads
// backslashes as slashes (WHATWG URL), so anything that comes to the prefix in any reading counts.
func workersOwn(u *url.URL) bool {
	raw := u.Opaque
	if raw == "" {
		raw = u.EscapedPath()
	}
	for range 3 { // twice escaped is as good as once
		clean := path.Clean("/" + strings.ReplaceAll(raw, `\`, "/"))
		if lower := strings.ToLower(clean); lower == ownPrefix || strings.HasPrefix(lower, ownPrefix+"/") {
			return true
		}
		raw = unescapeLeniently(raw)
	}
	return false
}

// unescapeLeniently decodes what are escapes, and leaves what only look like it.
func unescapeLeniently(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := url.PathUnescape(s[i : i+3]); err == nil {
				out.WriteString(c)
				i += 2
				continue
			}
		}
		if s[i] != '\t' && s[i] != '\n' && s[i] != '\r' { // a WHATWG URL has none
			out.WriteByte(s[i])
		}
	}
	return out.String()
}
