package origin

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"adaptive-h3/infra/edge/internal/upstream"
)

// OwnPrefix is where the worker's API is. A request there may carry a token, which nobody else may see.
const OwnPrefix = "/_h3"

// Visitors' pages ask for these two of the worker's own paths (worker/reporter/csp.ts): the reporter, and where it reports.
const (
	reporterPath = OwnPrefix + "/v1/reporter.js"
	reportPath   = OwnPrefix + "/v1/report"
)

// ForOperators says whether a visitor's request might be for the worker's API. What visitors' pages ask for by themselves is
// not: it must not take the places of those who operate the system.
func ForOperators(r *http.Request) bool {
	asked := &url.URL{}
	upstream.PassTarget(asked, r.RequestURI)
	return workersOwn(asked) && !forPages(asked)
}

// forPages says whether a page asks for this by itself. Only the plain form of the paths counts: no page has another one.
func forPages(u *url.URL) bool {
	raw := u.Opaque
	if raw == "" {
		raw = u.EscapedPath()
	}
	return raw == reporterPath || raw == reportPath
}

// workersOwn says whether the worker might take a request for one of its own. The worker resolves dot segments and reads
// backslashes as slashes (WHATWG URL), so a path counts when any of these readings leads to the prefix.
func workersOwn(u *url.URL) bool {
	raw := u.Opaque
	if raw == "" {
		raw = u.EscapedPath()
	}
	for range 3 { // a path that is escaped twice counts too
		clean := path.Clean("/" + strings.ReplaceAll(raw, `\`, "/"))
		if lower := strings.ToLower(clean); lower == OwnPrefix || strings.HasPrefix(lower, OwnPrefix+"/") {
			return true
		}
		raw = unescapeLeniently(raw)
	}
	return false
}

// unescapeLeniently decodes the valid escapes, and leaves the others as they are.
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
		if s[i] != '\t' && s[i] != '\n' && s[i] != '\r' { // the worker's URL parser drops these (WHATWG URL)
			out.WriteByte(s[i])
		}
	}
	return out.String()
}
