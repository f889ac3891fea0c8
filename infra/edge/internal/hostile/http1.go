package hostile

import (
	"fmt"
	"strings"
)

var kindsOfH1 = map[string]func(*gen, *Input){
	"request-line":      requestLine,
	"target":            oddTarget,
	"field":             oddFieldLine,
	"broken-field":      brokenFieldLine,
	"many-fields":       manyFieldLines,
	"content-length":    contentLengths,
	"transfer-encoding": transferEncodings,
	"length-and-chunks": lengthAndChunks,
	"chunks":            badChunks,
	"pipeline":          pipeline,
	"line-ends":         lineEnds,
	"unfinished":        unfinished,
	"upgrade":           upgrades,
	"mutation":          mutatedRequest,
}

// lines joins the lines of a request's head.
func lines(all ...string) string { return strings.Join(all, "\r\n") + "\r\n\r\n" }

// after follows an input that may not be one request. Whoever reads the input rightly answers it, or has ended the connection.
func (g *gen) after() string {
	return lines("GET "+g.target()+" HTTP/1.1", "Host: localhost", "Connection: close")
}

// attempt sets bytes that may be any number of requests.
func (g *gen) attempt(in *Input, bytes string) {
	in.Raw, in.Alone = &Raw{Bytes: []byte(bytes + g.after())}, true
}

func requestLine(g *gen, in *Input) {
	method := pick(g, "GET", "POST", "get", "G ET", "", "\x00", "GET\t", "FOO", "CONNECT", "TRACE", "PRI", "OPTIONS", "HEAD", "LINK", strings.Repeat("A", 9_000), "GE(T", "\xff")
	space := pick(g, " ", " ", " ", "  ", "\t", "", "\x0b", "\x00")
	version := pick(g, "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/3", "HTTP/1.10", "HTTP/1.1 ", "http/1.1", "HTTP/9999999999.1", "HTTP/-1.1", "", "ICY")
	g.attempt(in, pick(g, "", "", "\r\n", "\n", " ", "\x16\x03\x01")+lines(method+space+g.target()+space+version, "Host: localhost"))
}

func oddTarget(g *gen, in *Input) {
	path := g.target()
	target := pick(g, "http://localhost"+path, "https://other.example"+path, "HTTP://localhost:99999"+path, "ftp://localhost"+path, "http://"+path, "http:"+path, "//localhost"+path,
		"*", "localhost:443", path+"?"+strings.Repeat("a=b&", 2_000), path+strings.Repeat("/..", 50), path+"/%2e%2e/%2E/x", path+"%00", path+"%0d%0aX:%201", path+"%zz", path+"%",
		path+"#frag", path+`\..\x`, path+"/\xff\xfe", path+"/grün", path+"?\x01", path+"?q=<'\">`{}|^", path+";a=b;c", "/./"+path, "/_h3/../"+path, path+strings.Repeat("/", 3_000),
		path+"?"+strings.Repeat("%25", 10_000), "."+path, path+"?__proto__[x]=1&constructor=1", path+"/\u202e", "/%2f"+path, strings.Repeat("/a", 40_000))
	in.Raw = &Raw{Bytes: []byte(lines(pick(g, "GET", "DELETE")+" "+target+" HTTP/1.1", "Host: localhost")), Whole: true}
}

func oddFieldLine(g *gen, in *Input) {
	head := []string{"GET " + g.target() + " HTTP/1.1", "Host: localhost"}
	for range 1 + g.IntN(4) {
		f := g.oddField()
		head = append(head, f.name+":"+pick(g, " ", "", "\t ")+f.value)
	}
	g.attempt(in, lines(head...))
}

func brokenFieldLine(g *gen, in *Input) {
	odd := pick(g, "X : 1", " X: 1", "X", ":", ": 1", "X: a\x00b", "X\x00: 1", "X: a\rb", "X: a\r\n b", "X: a\r\n "+strings.TrimRight(g.inner(), "\r\n"), "X: a\nY: b", "\xff: 1", "grün: 1", "X Y: 1",
		"Host: other", "Host:", "Host: a b", "Host: \x00", "Host: [::", "Host: localhost:x", "host:localhost", "Content-Length : 5", "Transfer-Encoding : chunked", "X"+strings.Repeat("y", 70_000)+": 1", "X: "+strings.Repeat("y", 200_000))
	head := []string{"GET " + g.target() + " HTTP/1.1", "Host: localhost", odd}
	switch g.IntN(4) {
	case 0: // without a Host
		head = []string{head[0], odd}
	case 1: // as the first field
		head = []string{head[0], odd, head[1]}
	}
	g.attempt(in, lines(head...))
}

func manyFieldLines(g *gen, in *Input) {
	head := []string{"GET " + g.target() + " HTTP/1.1", "Host: localhost"}
	for _, f := range g.many()[4:] {
		head = append(head, f.name+": "+f.value)
	}
	in.Requests = 2
	g.attempt(in, lines(head...))
}

func contentLengths(g *gen, in *Input) {
	body := "aaaaa" + g.inner()
	whole := fmt.Sprint(len(body))
	length := func() string {
		return pick(g, whole, whole, "-1", "+"+whole, "0x5", "9223372036854775807", "9223372036854775808", "99999999999999999999", whole+", "+whole, "5, "+whole, "5 5", "", " ", whole+"\x00", "1e1", "٥", "5;", "\""+whole+"\"")
	}
	head := []string{pick(g, "POST ", "GET ", "PUT ", "DELETE ") + g.target() + " HTTP/1.1", "Host: localhost", "Content-Length: " + length()}
	if g.IntN(2) == 0 {
		// Lengths that differ are no valid framing, whichever comes first (RFC 9112, section 6.3).
		head = append(head, pick(g, "Content-Length: ", "content-length:", "Content-Length:\t")+pick(g, "5", length()))
	}
	g.attempt(in, lines(head...)+body)
}

// chunked frames data as one chunk and the last one.
func chunked(data string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(data), data) }

func transferEncodings(g *gen, in *Input) {
	coding := pick(g, "chunked", "Chunked", "\tchunked", "chunked\t", "\x0bchunked", "xchunked", "chunkedx", "chunked, identity", "identity, chunked", "gzip, chunked", "chunked, chunked", "chunked;q=1", "\"chunked\"", "", "identity", "gzip", "cow", "\r\n chunked")
	head := []string{"POST " + g.target() + " HTTP/1." + pick(g, "1", "1", "0"), "Host: localhost", pick(g, "Transfer-Encoding: ", "transfer-encoding:", "Transfer-Encoding:\t") + coding}
	if g.IntN(3) == 0 {
		head = append(head, "Transfer-Encoding: "+pick(g, "chunked", "identity", "x"))
	}
	g.attempt(in, lines(head...)+chunked(g.inner()))
}

// lengthAndChunks has both framings. Chunks win, or the request is refused (RFC 9112, section 6.3).
func lengthAndChunks(g *gen, in *Input) {
	body := chunked(g.inner())
	head := []string{
		"POST " + g.target() + " HTTP/1." + pick(g, "1", "1", "0"), "Host: localhost",
		pick(g, "Content-Length: ", "Content-Length: 0", "content-length:\t0") + pick(g, "", "4", fmt.Sprint(len(body))), "Transfer-Encoding: " + pick(g, "chunked", "chunked", "Chunked"),
	}
	if g.IntN(2) == 0 {
		head[2], head[3] = head[3], head[2]
	}
	g.attempt(in, lines(head...)+body)
}

func badChunks(g *gen, in *Input) {
	inner := g.inner()
	size := pick(g, "%x", "%x", "%X;a=b", "%x;a=\"\r\n\"", "%x;"+strings.Repeat("e", 20_000), "0x%x", "+%x", "-%x", " %x", "%x ", "%x\t", "000000000000000000000%x", "fffffffffffffff%x", "%x\x00", "%x,%[1]x", "g%x", "")
	if strings.Contains(size, "%") {
		size = fmt.Sprintf(size, len(inner))
	}
	end := pick(g, "\r\n", "\r\n", "\n", "\r", "")
	tail := pick(g, "0\r\n\r\n", "0\r\nX-Trailer: 1\r\n\r\n", "0\r\nContent-Length: 5\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n : x\r\n\r\n", "00000\r\n\r\n", "0;x\r\n\r\n", "0\n\n", "-0\r\n\r\n", "1\r\n\r\n0\r\n\r\n", "0\r\nX: "+strings.Repeat("t", 100_000)+"\r\n\r\n")
	head := lines("POST "+g.target()+" HTTP/1.1", "Host: localhost", "Trailer: X-Trailer", "Transfer-Encoding: chunked")
	body := size + end + inner + pick(g, "\r\n", "\r\n", "\n", "", "XX") + tail
	g.attempt(in, head+body)
}

func pipeline(g *gen, in *Input) {
	var all strings.Builder
	for range 1 + g.IntN(9) {
		if g.IntN(2) == 0 {
			all.WriteString(lines("GET "+g.target()+" HTTP/1.1", "Host: localhost"))
		} else {
			body := g.inner()
			all.WriteString(lines("POST "+g.target()+" HTTP/1.1", "Host: localhost", fmt.Sprint("Content-Length: ", len(body))) + body)
		}
	}
	g.attempt(in, all.String())
}

func lineEnds(g *gen, in *Input) {
	valid := lines("POST "+g.target()+" HTTP/1.1", "Host: localhost", "X: 1", "Content-Length: 5") + "aaaaa"
	parts := strings.Split(valid, "\r\n")
	var out strings.Builder
	for i, part := range parts {
		out.WriteString(part)
		if i < len(parts)-1 {
			out.WriteString(pick(g, "\r\n", "\r\n", "\n", "\r", "\r\r\n", "\n\r", "\r\n\x00"))
		}
	}
	g.attempt(in, out.String())
}

func unfinished(g *gen, in *Input) {
	whole := lines("POST "+g.target()+" HTTP/1.1", "Host: localhost", "X: 1", pick(g, "Content-Length: 500", "Transfer-Encoding: chunked", "Expect: 100-continue\r\nContent-Length: 9")) + chunked("aaaaaaaaaa")
	in.Raw, in.Alone = &Raw{Bytes: []byte(whole[:g.IntN(len(whole)-3)]), Cut: true}, true
}

func upgrades(g *gen, in *Input) {
	head := []string{pick(g, "GET ", "GET ", "POST ", "CONNECT ") + g.target() + " HTTP/1.1", "Host: localhost"}
	head = append(head, pick(g,
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
		"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "+pick(g, "AAAAAAAAAAAAAAAAAAAAAA==", "x", ""),
		"Connection: upgrade\r\nUpgrade: websocket, h2c", "Connection: Upgrade\r\nUpgrade: TLS/1.0", "Upgrade: websocket", "Connection: Host", "Connection: Content-Length\r\nContent-Length: 5",
		"Connection: X-Forwarded-For, CF-Connecting-IP, MF-CF-Blob", "Connection: close, close, keep-alive", "Expect: 100-continue\r\nContent-Length: 5", "Expect: nothing", "Expect: 100-continue, x"))
	body := pick(g, "", "aaaaa", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	g.attempt(in, lines(head...)+body)
}

func mutatedRequest(g *gen, in *Input) {
	valid := lines("POST "+g.target()+"?a=b HTTP/1.1", "Host: localhost", "Cookie: a=b", "Content-Type: text/plain", "Transfer-Encoding: chunked") + chunked("aaaaaaaaaa")
	if g.IntN(2) == 0 {
		valid = lines("GET "+g.target()+" HTTP/1.1", "Host: localhost", "Accept: text/html", "Accept-Encoding: gzip", "Sec-Fetch-Mode: navigate", "Content-Length: 5") + "aaaaa"
	}
	g.attempt(in, string(g.mutate([]byte(valid))))
	in.Requests = -1
}
