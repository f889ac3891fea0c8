package main

import (
	"fmt"
	"slices"
	"strings"
)

var kindsOfH1 = map[string]func(*gen, *input){
	"request-line":      requestLine,
	"target":            oddTarget,
	"field":             fieldLines,
	"content-length":    contentLengths,
	"transfer-encoding": transferEncodings,
	"chunks":            badChunks,
	"pipeline":          pipeline,
	"line-ends":         lineEnds,
	"unfinished":        unfinished,
	"mutation":          mutatedRequest,
}

// lines joins the lines of a request's head.
func lines(all ...string) string { return strings.Join(all, "\r\n") + "\r\n\r\n" }

// attempt sets bytes that may be any number of requests. One more request follows: a server that reads the bytes rightly answers it,
// or has ended the connection.
func (g *gen) attempt(in *input, bytes string) {
	in.bytes = []byte(bytes + lines("GET "+g.target()+" HTTP/1.1", "Host: localhost", "Connection: close"))
}

func requestLine(g *gen, in *input) {
	method := pick(g, "GET", "POST", "get", "G ET", "", "\x00", "FOO", "CONNECT", "TRACE", "PRI", "OPTIONS", strings.Repeat("A", 9_000), "GE(T", "\xff")
	space := pick(g, " ", " ", " ", "  ", "\t", "", "\x0b", "\x00")
	version := pick(g, "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.10", "HTTP/1.1 ", "http/1.1", "HTTP/-1.1", "", "ICY")
	g.attempt(in, pick(g, "", "", "\r\n", " ", "\x16\x03\x01")+lines(method+space+g.target()+space+version, "Host: localhost"))
}

func oddTarget(g *gen, in *input) {
	path := g.target()
	target := pick(g, "http://localhost"+path, "https://other.example"+path, "ftp://localhost"+path, "http://"+path, "//localhost"+path, "*", "localhost:443", path+"?"+strings.Repeat("a=b&", 2_000),
		path+strings.Repeat("/..", 50), path+"/%2e%2e/%2E/x", path+"%00", path+"%0d%0aX:%201", path+"%zz", path+`\..\x`, path+"/\xff\xfe", path+"?\x01", path+"?q=<'\">`{}|^", "/./"+path, "/_h3/../"+path,
		"."+path, path+"?__proto__[x]=1", "/%2f"+path, strings.Repeat("/a", 40_000))
	g.attempt(in, lines(pick(g, "GET", "DELETE")+" "+target+" HTTP/1.1", "Host: localhost"))
}

func fieldLines(g *gen, in *input) {
	head := []string{"GET " + g.target() + " HTTP/1.1", "Host: localhost"}
	broken := pick(g, "X : 1", " X: 1", "X", ":", "X: a\x00b", "X\x00: 1", "X: a\rb", "X: a\r\n b", "X: a\r\n "+strings.TrimRight(g.inner(), "\r\n"), "X: a\nY: b", "\xff: 1", "X Y: 1", "Host: other", "Host:",
		"Host: a b", "Host: [::", "host:localhost", "Content-Length : 5", "Transfer-Encoding : chunked", "X"+strings.Repeat("y", 70_000)+": 1", "X: "+strings.Repeat("y", 200_000),
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA", "Connection: Upgrade\r\nUpgrade: websocket", "Connection: X-Forwarded-For, CF-Connecting-IP, MF-CF-Blob", "Expect: nothing")
	switch g.IntN(3) {
	case 0: // without a Host, as the first field, or last
		head = pick(g, []string{head[0], broken}, []string{head[0], broken, head[1]}, append(head, broken))
	case 1:
		for _, f := range g.many()[4:] {
			head = append(head, f.name+": "+f.value)
		}
	default:
		for range 1 + g.IntN(4) {
			f := g.oddField()
			head = append(head, f.name+":"+pick(g, " ", "", "\t ")+f.value)
		}
	}
	g.attempt(in, lines(head...))
}

func contentLengths(g *gen, in *input) {
	body := "aaaaa" + g.inner()
	whole := fmt.Sprint(len(body))
	length := func() string {
		return pick(g, whole, whole, "-1", "+"+whole, "0x5", "9223372036854775808", whole+", "+whole, "5, "+whole, "5 5", "", " ", whole+"\x00", "1e1", "٥", "5;", "\""+whole+"\"")
	}
	head := []string{pick(g, "POST ", "GET ", "DELETE ") + g.target() + " HTTP/1.1", "Host: localhost", "Content-Length: " + length()}
	if g.IntN(2) == 0 {
		// Lengths that differ are no valid framing, whichever comes first (RFC 9112, section 6.3).
		head = append(head, pick(g, "Content-Length: ", "content-length:", "Content-Length:\t")+pick(g, "5", length()))
	}
	g.attempt(in, lines(head...)+body)
}

// chunked frames data as one chunk and the last one.
func chunked(data string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(data), data) }

func transferEncodings(g *gen, in *input) {
	coding := pick(g, "chunked", "Chunked", "\tchunked", "\x0bchunked", "xchunked", "chunked, identity", "identity, chunked", "gzip, chunked", "chunked, chunked", "chunked;q=1", "\"chunked\"", "", "identity", "\r\n chunked")
	body := chunked(g.inner())
	head := []string{"POST " + g.target() + " HTTP/1." + pick(g, "1", "1", "0"), "Host: localhost", pick(g, "Transfer-Encoding: ", "transfer-encoding:") + coding}
	switch g.IntN(4) {
	case 0:
		head = append(head, "Transfer-Encoding: "+pick(g, "chunked", "identity", "x"))
	case 1:
		// With both framings chunks win, or the request is refused (RFC 9112, section 6.3).
		head[2] = "Transfer-Encoding: " + pick(g, "chunked", "Chunked")
		head = slices.Insert(head, 2+g.IntN(2), pick(g, "Content-Length: ", "content-length:\t")+pick(g, "0", "4", fmt.Sprint(len(body))))
	}
	g.attempt(in, lines(head...)+body)
}

func badChunks(g *gen, in *input) {
	inner := g.inner()
	size := pick(g, "%x", "%x", "%X;a=b", "%x;a=\"\r\n\"", "%x;"+strings.Repeat("e", 20_000), "0x%x", "+%x", "-%x", " %x", "%x ", "fffffffffffffff%x", "%x\x00", "%x,%[1]x", "g%x")
	tail := pick(g, "0\r\n\r\n", "0\r\nX-Trailer: 1\r\n\r\n", "0\r\nContent-Length: 5\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n : x\r\n\r\n", "0\n\n", "-0\r\n\r\n", "1\r\n\r\n0\r\n\r\n", "0\r\nX: "+strings.Repeat("t", 100_000)+"\r\n\r\n")
	head := lines("POST "+g.target()+" HTTP/1.1", "Host: localhost", "Trailer: X-Trailer", "Transfer-Encoding: chunked")
	g.attempt(in, head+fmt.Sprintf(size, len(inner))+pick(g, "\r\n", "\r\n", "\n", "\r", "")+inner+pick(g, "\r\n", "\r\n", "\n", "", "XX")+tail)
}

func pipeline(g *gen, in *input) {
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

func lineEnds(g *gen, in *input) {
	var out strings.Builder
	for line := range strings.SplitSeq(lines("POST "+g.target()+" HTTP/1.1", "Host: localhost", "X: 1", "Content-Length: 5"), "\r\n") {
		out.WriteString(line + pick(g, "\r\n", "\r\n", "\n", "\r", "\r\r\n", "\n\r", "\r\n\x00"))
	}
	g.attempt(in, out.String()+"aaaaa")
}

func unfinished(g *gen, in *input) {
	whole := lines("POST "+g.target()+" HTTP/1.1", "Host: localhost", "X: 1", pick(g, "Content-Length: 500", "Transfer-Encoding: chunked", "Expect: 100-continue\r\nContent-Length: 9")) + chunked("aaaaaaaaaa")
	in.bytes, in.cut = []byte(whole[:g.IntN(len(whole)-3)]), true
}

func mutatedRequest(g *gen, in *input) {
	to := g.target()
	valid := pick(g, lines("POST "+to+"?a=b HTTP/1.1", "Host: localhost", "Cookie: a=b", "Content-Type: text/plain", "Transfer-Encoding: chunked")+chunked("aaaaaaaaaa"),
		lines("GET "+to+" HTTP/1.1", "Host: localhost", "Accept: text/html", "Sec-Fetch-Mode: navigate", "Content-Length: 5")+"aaaaa")
	g.attempt(in, string(g.mutate([]byte(valid))))
	in.requests = -1
}
