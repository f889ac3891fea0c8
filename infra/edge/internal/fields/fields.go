// Package fields makes of a header's lines what the worker's runtime makes of them, so that the origin and the visitor get the
// same whoever asks the origin. And it takes back what would mislead browsers. It imports nothing of this module; of others, x/net.
package fields

import (
	"maps"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// joined has the fields of which the runtime keeps one value: KJ, its HTTP, knows their names. An end-to-end test tries each.
var joined = setOf(
	"Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Ranges", "Access-Control-Allow-Origin", "Age", "Allow",
	"Authorization", "Cache-Control", "Cf-Cache-Namespace", "Cf-Cache-Status", "Cf-Kv-Metadata", "Cf-R2-Error", "Cf-R2-Metadata-Size",
	"Cf-R2-Request", "Cf-Ray", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Location", "Content-Range",
	"Content-Type", "Cookie", "Date", "Etag", "Expect", "Expires", "From", "Host", "If-Match", "If-Modified-Since", "If-None-Match",
	"If-Range", "If-Unmodified-Since", "Last-Modified", "Link", "Location", "Max-Forwards", "Origin", "Pragma", "Range", "Referer",
	"Refresh", "Retry-After", "Sec-Websocket-Accept", "Sec-Websocket-Extensions", "Sec-Websocket-Key", "Sec-Websocket-Protocol",
	"Sec-Websocket-Version", "Server", "Strict-Transport-Security", "User-Agent", "Vary", "Via", "Www-Authenticate",
)

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// JoinCookies makes one line of several: they are no list (RFC 9113, section 8.2.3).
func JoinCookies(h http.Header) {
	if lines := h["Cookie"]; len(lines) > 1 {
		h["Cookie"] = []string{strings.Join(lines, "; ")}
	}
}

// DropInvalid drops fields whose name is no token: HTTP/1.1's server does that too, and HTTP/3's sends what no client accepts.
func DropInvalid(h http.Header) {
	maps.DeleteFunc(h, func(name string, _ []string) bool { return !httpguts.ValidHeaderFieldName(name) })
}

// Join makes one line of each field that the runtime would join, and drops it if it is empty.
func Join(h http.Header) {
	for name, values := range h {
		if len(values) == 1 && values[0] != "" {
			continue // nearly every field
		}
		isList := joined[name]
		if !isList && name != "Set-Cookie" {
			continue
		}
		for len(values) > 0 && values[0] == "" {
			values = values[1:]
		}
		switch {
		case len(values) == 0:
			delete(h, name)
		case isList:
			h[name] = []string{strings.TrimRight(strings.Join(values, separator), " ")}
		default:
			h[name] = values
		}
	}
}

const separator = ", "

// Split gives lines that were joined back to the visitor, where it can be seen what they were: browsers take a line of
// WWW-Authenticate for one challenge, and of Strict-Transport-Security the first line (RFC 6797, section 8.1). The same line
// sent twice would otherwise be another target, another date, another name of a file.
func Split(h http.Header) {
	for name, values := range h {
		if len(values) != 1 || !strings.Contains(values[0], separator) || !joined[name] {
			continue
		}
		switch name {
		case "Www-Authenticate":
			h[name] = cut(values[0], beginsChallenge)
		case "Strict-Transport-Security":
			h[name] = cut(values[0], func(string) bool { return true })
		default:
			value := values[0]
			if half := (len(value) - len(separator)) / 2; value == value[:half]+separator+value[:half] {
				h[name] = []string{value[:half], value[:half]}
			}
		}
	}
}

// cut ends a line at each separator outside of quoted strings after which another one begins.
func cut(value string, begins func(rest string) bool) []string {
	var lines []string
	begin, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch {
		case quoted && value[i] == '\\':
			i++
		case value[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(value[i:], separator) && begins(value[i+len(separator):]):
			lines = append(lines, value[begin:i])
			begin = i + len(separator)
		}
	}
	return append(lines, value[begin:])
}

// beginsChallenge says whether a scheme stands here, and not a parameter of the challenge before (RFC 9110, section 11.6.1).
func beginsChallenge(rest string) bool {
	end := strings.IndexAny(rest, ` ,="`)
	if end < 0 {
		return rest != ""
	}
	return end > 0 && (rest[end] == ',' || rest[end] == ' ' && !strings.HasPrefix(strings.TrimLeft(rest[end:], " "), "="))
}
