package main

import "strings"

// tokens are bytes that parsers trip over.
var tokens = []string{
	"\r\n", "\n", "\r", "\x00", " ", "\t", ":", ",", ";", "\r\n\r\n", "\xff", "\xc3\x28", "%00", "%", "//", "/../", "0", "-1", "ffffffffffffffff",
	"18446744073709551616", "HTTP/1.1", "chunked", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n", "\x0b", "\xe2\x80\xa8", "{", "[", "\"", "\\u0000",
}

// mutate changes bytes in a few places: it flips, drops, doubles, inserts and exchanges some.
func (g *gen) mutate(valid []byte) []byte {
	out := append([]byte(nil), valid...)
	for range 1 + g.IntN(4) {
		if len(out) == 0 {
			break
		}
		at := g.IntN(len(out))
		end := min(len(out), at+1+g.IntN(16))
		switch g.IntN(6) {
		case 0:
			out[at] ^= 1 << g.IntN(8)
		case 1:
			out[at] = byte(g.IntN(256))
		case 2:
			out = append(out[:at:at], out[end:]...)
		case 3:
			out = append(out[:end:end], out[at:]...)
		case 4:
			out = append(append(out[:at:at], pick(g, tokens...)...), out[at:]...)
		case 5:
			out = append(append(out[:at:at], pick(g, tokens...)...), out[end:]...)
		}
	}
	return out
}

// noise returns random bytes.
func (g *gen) noise(most int) []byte {
	out := make([]byte, g.IntN(most+1))
	for i := range out {
		out[i] = byte(g.IntN(256))
	}
	return out
}

// field is a header field. The pseudo-header fields of HTTP/2 and HTTP/3 are fields too.
type field struct{ name, value string }

// requestFields are the fields of a valid request (RFC 9113, section 8.3.1).
func (g *gen) requestFields(method string) []field {
	return []field{{":method", method}, {":scheme", "https"}, {":authority", "localhost"}, {":path", g.target()}}
}

// oddField returns a field that a request may have in HTTP/1.1, if with an odd value.
func (g *gen) oddField() field {
	name := pick(g, "Host", "Connection", "Keep-Alive", "TE", "Expect", "Upgrade", "Cookie", "Range", "If-Match", "If-Modified-Since",
		"Accept", "Accept-Encoding", "X-Forwarded-For", "CF-Connecting-IP", "CF_Connecting_IP", "MF-CF-Blob", "mf_cf_blob", "CF-Worker",
		"Content-Type", "Content-Encoding", "Authorization", "Alt-Svc", "Early-Data", "Via", "Max-Forwards", "Date", "Trailer", "Priority",
		"Sec-Fetch-Mode", "Sec-Fetch-Dest", "Origin", "Referer", "Proxy-Connection", "Proxy-Authorization", "HTTP2-Settings", "Set-Cookie", "Server-Timing", "__proto__")
	value := pick(g, "", " ", "*", "-1", "0", "1e999", "NaN", "close, host", "content-length, transfer-encoding", "keep-alive, x, x", "trailers, gzip", "100-continue",
		"200-maybe", "h2c", "websocket", "bytes=0-,-1,99-1", `"a", W/"b", *`, "\xff\xfe", "grün", "localhost:99999", "[::1", "a@b", "localhost, localhost", `{"asn":`,
		"null", "gzip, br;q=9", "multipart/form-data; boundary=", "text/html; charset=\"", "Bearer", "Basic ====", "::ffff:1.2.3.4, x", "1, 1", "u=9, i=?2",
		strings.Repeat("a,", 2000), strings.Repeat("\"", 999), "a=b; "+strings.Repeat("c=d;", 500), "navigate", "document", "../../etc/passwd", "() { :;}; x")
	return field{name, value}
}

// brokenField returns a field that no request may have. In HTTP/2 and HTTP/3 its bytes are framed by their length, and may not
// become lines of an HTTP/1.1 request on the way.
func (g *gen) brokenField() field {
	name := pick(g, "x", "x", "cookie", "content-type")
	value := pick(g, "a\r\nX-Injected: 1", "a\n\n"+g.inner(), "a\r\n\r\n"+g.inner(), "a\x00b", "a\rb", "\x7f", " a", "a ", "\ta")
	switch g.IntN(6) {
	case 0:
		return field{pick(g, "X-Upper", "", "x y", "x:", "x\r\ny", "x\x00", "gr\xc3\xbcn", "x\r\n\r\n"+g.inner(), "(", strings.Repeat("x", 5000)), "1"}
	case 1:
		return field{pick(g, "connection", "keep-alive", "proxy-connection", "upgrade", "te", "host"), pick(g, "close", "h2c", "gzip", "x", "localhost, a")}
	case 2:
		return field{"transfer-encoding", pick(g, "chunked", "identity", "gzip, chunked", "\tchunked")}
	case 3:
		return field{"content-length", pick(g, "-1", "+1", "0x5", "1, 1", "", " ", "99999999999999999999", "5 5", "5\r\nx: y")}
	default:
		return field{name, value}
	}
}

// pseudo returns the fields of a request whose pseudo-header fields are wrong.
func (g *gen) pseudo() []field {
	fields := g.requestFields(pick(g, "GET", "POST", "HEAD", "CONNECT", "OPTIONS"))
	at := g.IntN(len(fields))
	switch g.IntN(7) {
	case 0:
		return append(fields[:at:at], fields[at+1:]...)
	case 1:
		return append(fields, fields[at])
	case 2:
		fields[at].name = strings.ToUpper(fields[at].name)
	case 3:
		return append([]field{{"x", "1"}}, fields...)
	case 4:
		return append(fields, field{pick(g, ":status", ":protocol", ":x", ":", ":Path"), pick(g, "200", "websocket", "")})
	case 5:
		wrong := pick(g, "", " ", "*", "/ HTTP/1.1\r\nx: y", "a b", "\x00", "\xff", "http://a/", "//", "a", "?", "#", g.inner(), strings.Repeat("a", 20_000))
		fields[at].value = pick(g, wrong, fields[at].value+wrong)
	case 6:
		return append(fields, field{"host", pick(g, "other", "", "localhost:1", "a\x00")})
	}
	return fields
}

// body returns a body whose length or framing, as its field has it, is not what is sent. The rest of it looks like a request.
func (g *gen) smuggling() ([]field, []byte) {
	fields := g.requestFields(pick(g, "POST", "PUT", "GET", "DELETE"))
	switch g.IntN(3) {
	case 0:
		return append(fields, field{"content-length", pick(g, "0", "5", "5000")}), []byte("aaaaa" + g.inner())
	case 1:
		return append(fields, field{"transfer-encoding", "chunked"}), []byte("0\r\n\r\n" + g.inner())
	default:
		return append(fields, field{"content-length", "5"}, field{"content-length", pick(g, "5", "6", "0")}), []byte("aaaaa" + g.inner())
	}
}

// many returns a great number of fields, or great fields.
func (g *gen) many() []field {
	fields := g.requestFields("GET")
	size := pick(g, 1, 10, 1_000, 20_000)
	for range min(pick(g, 3, 100, 1_000, 3_000), 150_000/size) {
		fields = append(fields, field{pick(g, "cookie", "x", "x-"+string(rune('a'+g.IntN(26)))), strings.Repeat("a", size)})
	}
	return fields
}
