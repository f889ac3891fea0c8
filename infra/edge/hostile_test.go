package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// Requests that break rules. `go test` sends each as it stands, and `go test -fuzz FuzzHTTP1` mutates them besides. They go to an edge in this
// process, or to a whole system if the environment has HOSTILE_SITE (HOST:PORT) and HOSTILE_CA (a PEM file): infra/e2e/hostile.test.ts.
// h2spec has what frames of HTTP/2 break.
//
// Whatever is sent, each whole request is answered, or its stream or connection ends. No answer is an error of ours that docs/transparency.md
// does not name, and nobody writes a stack trace.

const (
	// hangs is how long nothing may come where the server has to answer, or to end the connection.
	hangs = 10 * time.Second
	// quiet is how long a client waits for more, before it ends its side of a connection.
	quiet = 100 * ms
	// within is a request that stands where no request can be. No server may take it for one.
	within = "GET /within HTTP/1.1\r\nHost: localhost\r\n\r\n"
)

// documented are the answers above 500 that docs/transparency.md names, as they begin.
var documented = map[int]*regexp.Regexp{
	501: regexp.MustCompile(`CONNECT is not supported|Unrecognized request method|transfer encoding`),
	505: regexp.MustCompile(`protocol version`),
}

var stackTrace = regexp.MustCompile(`goroutine \d+ \[|\w\.go:\d+|\n\s+at [^\n]+:\d+:\d+|panic: `)

// attacked is who gets hostile requests.
type attacked struct {
	address string
	config  *tls.Config
	stderr  edgetest.Buffer // what an edge in this process wrote

	mu sync.Mutex
	// reached counts requests at the origin by their X-Id, and targets has those of all.
	reached map[string]int
	targets []string
	ids     int
}

func startAttacked(f *testing.F) *attacked {
	a := &attacked{address: os.Getenv("HOSTILE_SITE"), reached: map[string]int{}}
	if a.address != "" {
		pem, err := os.ReadFile(os.Getenv("HOSTILE_CA"))
		if err != nil {
			f.Fatal(err)
		}
		a.config = &tls.Config{RootCAs: x509.NewCertPool()}
		a.config.RootCAs.AppendCertsFromPEM(pem)
	} else {
		e := startEdgeWith(f, edgetest.StartUpstream(f, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			a.mu.Lock()
			defer a.mu.Unlock()
			a.reached[r.Header.Get("X-Id")]++
			a.targets = append(a.targets, r.RequestURI)
		}))
		a.address, a.config = e.addresses[0], e.tlsConfig()
		f.Cleanup(func() {
			if said := e.stderr.String(); strings.Contains(said, "panic") {
				f.Error(said)
			}
		})
	}
	a.config.ServerName, a.config.ClientSessionCache = "localhost", tls.NewLRUClientSessionCache(64)
	return a
}

// judge fails the test if an answer is no answer that a client may get.
func (a *attacked) judge(t *testing.T, status int, text string) {
	t.Helper()
	if named := documented[status]; status >= 500 && (named == nil || !named.MatchString(text)) {
		t.Errorf("a %d of ours: %.300q", status, text)
	}
	if stackTrace.MatchString(text) {
		t.Errorf("a stack trace in a %d: %.300q", status, text)
	}
}

// judgeOrigin fails the test if what stood in a body or a field came to the origin as a request. A mutation may make one of it.
func (a *attacked) judgeOrigin(t *testing.T) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		return
	}
	for _, target := range a.targets {
		if strings.HasSuffix(target, "/within") {
			t.Error("what was in a body or a field came to the origin as a request")
		}
	}
	a.targets = nil
}

// dial makes a TLS connection that speaks a protocol, and ends with the test.
func (a *attacked) dial(t *testing.T, protocol string) *tls.Conn {
	t.Helper()
	config := a.config.Clone()
	config.NextProtos = []string{protocol}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: hangs}, "tcp", a.address, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.NetConn().Close() })
	_ = conn.SetDeadline(time.Now().Add(2 * hangs))
	return conn
}

// dialQUIC makes a connection for HTTP/3, which ends with the test.
func (a *attacked) dialQUIC(t *testing.T) *quic.Conn {
	t.Helper()
	config := a.config.Clone()
	config.NextProtos = []string{http3.NextProtoH3}
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	conn, err := quic.DialAddr(ctx, a.address, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") })
	return conn
}

// statusLine begins an answer. No body has such a line.
var statusLine = regexp.MustCompile(`HTTP/1\.[01] (\d{3}) [^\r\n]*\r\n`)

// FuzzHTTP1 sends bytes over a connection of HTTP/1.1. A request follows them, unless they are a request that the client does not finish: a server
// that reads them rightly answers it, or has ended the connection.
func FuzzHTTP1(f *testing.F) {
	for _, in := range hostileHTTP1() {
		f.Add(in, false)
	}
	whole := head("POST /a HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked") + chunked("aaaaa")
	for _, end := range []int{0, 5, 20, len(whole) - 20, len(whole) - 12, len(whole) - 3} {
		f.Add(whole[:end], true)
	}
	f.Add(head("POST /a HTTP/1.1", "Host: localhost", "Expect: 100-continue", "Content-Length: 9"), true)
	f.Add(head("POST /a HTTP/1.1", "Host: localhost", "Content-Length: 500")+"aaaaa", true)
	plain := head("GET /a HTTP/1.1", "Host: localhost")
	f.Add(plain, false)
	a := startAttacked(f)
	f.Fuzz(func(t *testing.T, in string, unfinished bool) {
		isPlain := in == plain
		conn := a.dial(t, "http/1.1")
		if !unfinished {
			in += head("GET /next HTTP/1.1", "Host: localhost", "Connection: close")
		}
		_, _ = conn.Write([]byte(in))
		text := string(readToEnd(t, conn))
		if isPlain && strings.Count(text, "HTTP/1.1 200 OK\r\n") != 2 {
			t.Errorf("two requests that keep the rules are answered with %q", text)
		}
		starts := append(statusLine.FindAllStringSubmatchIndex(text, -1), []int{len(text)})
		for i, at := range starts[:len(starts)-1] {
			status, _ := strconv.Atoi(text[at[2]:at[3]])
			a.judge(t, status, text[at[0]:starts[i+1][0]])
		}
		a.judgeOrigin(t)
	})
}

// readToEnd reads to the connection's end. When nothing comes for a while, the client ends its side.
func readToEnd(t *testing.T, conn *tls.Conn) []byte {
	t.Helper()
	var came bytes.Buffer
	for _, patience := range []time.Duration{quiet, hangs} {
		for {
			_ = conn.SetReadDeadline(time.Now().Add(patience))
			_, err := io.CopyN(&came, conn, 1)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return came.Bytes()
			}
		}
		_ = conn.CloseWrite()
	}
	t.Errorf("the client ended its side, and the server did not within %v", hangs)
	return came.Bytes()
}

// head joins the lines of a request's head.
func head(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n\r\n" }

// chunked frames data as one chunk and the last one.
func chunked(data string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(data), data) }

func hostileHTTP1() (all []string) {
	add := func(in string) { all = append(all, in) }
	for _, line := range []string{
		"get /a HTTP/1.1", "G ET /a HTTP/1.1", " /a HTTP/1.1", "\x00 /a HTTP/1.1", "FOO /a HTTP/1.1", "CONNECT /a HTTP/1.1", "CONNECT localhost:443 HTTP/1.1",
		"TRACE /a HTTP/1.1", "PRI * HTTP/2.0", "OPTIONS * HTTP/1.1", strings.Repeat("A", 9_000) + " /a HTTP/1.1", "GE(T /a HTTP/1.1", "\xff /a HTTP/1.1",
		"GET  /a HTTP/1.1", "GET\t/a HTTP/1.1", "GET/a HTTP/1.1", "GET /a\x0bHTTP/1.1", "GET /a HTTP/1.0", "GET /a HTTP/0.9", "GET /a HTTP/2.0", "GET /a HTTP/1.10",
		"GET /a HTTP/1.1 ", "GET /a http/1.1", "GET /a HTTP/-1.1", "GET /a ICY", "GET /a", "\r\nGET /a HTTP/1.1", "\x16\x03\x01GET /a HTTP/1.1",
	} {
		add(head(line, "Host: localhost"))
	}
	for _, target := range []string{
		"http://localhost/a", "https://other.example/a", "ftp://localhost/a", "http:///a", "//localhost/a", "*", "localhost:443", "/a?" + strings.Repeat("a=b&", 2_000),
		"/a" + strings.Repeat("/..", 50), "/a/%2e%2e/%2E/x", "/a%00", "/a%0d%0aX:%201", "/a%zz", `/a\..\x`, "/a/\xff\xfe", "/a?\x01", "/a?q=<'\">`{}|^", "/.//a", "/_h3/..//a", "./a",
		"/a?__proto__[x]=1", "/%2f/a", strings.Repeat("/a", 40_000), "/a#b", "/a b",
	} {
		add(head("GET "+target+" HTTP/1.1", "Host: localhost"))
		add(head("DELETE "+target+" HTTP/1.1", "Host: localhost"))
	}
	for _, field := range []string{
		"X : 1", " X: 1", "X", ":", "X: a\x00b", "X\x00: 1", "X: a\rb", "X: a\r\n b", "X: a\r\n " + within, "X: a\nY: b", "\xff: 1", "X Y: 1", "Host: other", "Host:", "Host: a b",
		"Host: [::", "Host: localhost:99999", "host:localhost", "Content-Length : 5", "Transfer-Encoding : chunked", "X" + strings.Repeat("y", 70_000) + ": 1", "X: " + strings.Repeat("y", 200_000),
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA", "Connection: Upgrade\r\nUpgrade: websocket",
		"Connection: X-Forwarded-For, CF-Connecting-IP, MF-CF-Blob", "Connection: close, host", "Expect: nothing", "Expect: 200-maybe", "MF-CF-Blob: {\"asn\":", "mf_cf_blob: null", "CF-Worker: 1",
		"CF_Connecting_IP: ::ffff:1.2.3.4, x", "TE: trailers, gzip", "Range: bytes=0-,-1,99-1", `If-Match: "a", W/"b", *`, "Accept-Encoding: gzip, br;q=9", "Max-Forwards: -1", "Early-Data: 1",
		"Sec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate", "Alt-Svc: clear", "Via: 1e999", "Priority: u=9, i=?2", "__proto__: x", "Cookie: a=b; " + strings.Repeat("c=d;", 500),
		"Content-Type: multipart/form-data; boundary=", strings.Repeat("X: aaaaaaaaaa\r\n", 3_000) + "Y: 1",
	} {
		add(head("GET /a HTTP/1.1", field))
		add(head("GET /a HTTP/1.1", "Host: localhost", field))
	}
	// Lengths that differ are no valid framing, whichever comes first (RFC 9112, section 6.3).
	body := "aaaaa" + within
	n := strconv.Itoa(len(body))
	for _, lengths := range []string{
		"-1", "+" + n, "0x5", "9223372036854775808", n + ", " + n, "5, " + n, "5 5", "", " ", n + "\x00", "1e1", "٥", "5;", `"` + n + `"`,
		n + "\r\nContent-Length: 5", "5\r\ncontent-length:" + n, n + "\r\nContent-Length:\t" + n,
	} {
		add(head("POST /a HTTP/1.1", "Host: localhost", "Content-Length: "+lengths) + body)
		add(head("GET /a HTTP/1.1", "Host: localhost", "Content-Length: "+lengths) + body)
	}
	// With both framings chunks win, or the request is refused (RFC 9112, section 6.3).
	for _, coding := range []string{
		"chunked", "Chunked", "\tchunked", "\x0bchunked", "xchunked", "chunked, identity", "identity, chunked", "gzip, chunked", "chunked, chunked", "chunked;q=1", `"chunked"`, "", "identity",
		"\r\n chunked", "chunked\r\nTransfer-Encoding: identity", "chunked\r\nTransfer-Encoding: x", "chunked\r\nContent-Length: 4", "Chunked\r\ncontent-length:\t0", "x\r\nContent-Length: 0",
	} {
		for _, version := range []string{"1.1", "1.0"} {
			add(head("POST /a HTTP/"+version, "Host: localhost", "Transfer-Encoding: "+coding) + chunked(within))
		}
	}
	add(head("POST /a HTTP/1.1", "Host: localhost", "Content-Length: 5", "Transfer-Encoding: chunked") + chunked(within))
	chunks := func(body string) {
		add(head("POST /a HTTP/1.1", "Host: localhost", "Trailer: X-Trailer", "Transfer-Encoding: chunked") + body)
	}
	for _, size := range []string{
		"%X;a=b", "%x;a=\"\r\n\"", "%x;" + strings.Repeat("e", 20_000), "0x%x", "+%x", "-%x", " %x", "%x ", "fffffffffffffff%x", "%x\x00", "%x,%[1]x", "g%x",
	} {
		chunks(fmt.Sprintf(size, len(within)) + "\r\n" + within + "\r\n0\r\n\r\n")
	}
	for _, end := range []string{"\n", "\r", "", "XX"} {
		chunks(fmt.Sprintf("%x%s%s\r\n0\r\n\r\n", len(within), end, within))
		chunks(fmt.Sprintf("%x\r\n%s%s0\r\n\r\n", len(within), within, end))
	}
	for _, last := range []string{
		"0\r\nX-Trailer: 1\r\n\r\n", "0\r\nContent-Length: 5\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "0\r\n : x\r\n\r\n", "0\n\n", "-0\r\n\r\n", "1\r\n\r\n0\r\n\r\n",
		"0\r\nX: " + strings.Repeat("t", 100_000) + "\r\n\r\n",
	} {
		chunks(fmt.Sprintf("%x\r\n%s\r\n%s", len(within), within, last))
	}
	one := head("POST /a HTTP/1.1", "Host: localhost", "Content-Length: "+n) + body
	add(strings.Repeat(one, 5) + strings.Repeat(head("GET /a HTTP/1.1", "Host: localhost"), 5))
	for _, end := range []string{"\n", "\r", "\r\r\n", "\n\r", "\r\n\x00"} {
		add(strings.ReplaceAll(head("POST /a HTTP/1.1", "Host: localhost", "X: 1", "Content-Length: 5")+"aaaaa", "\r\n", end))
		add(strings.Replace(one, "\r\n", end, 1))
	}
	return all
}

// field is a header field. The pseudo-header fields of HTTP/2 and HTTP/3 are fields too.
type field struct{ name, value string }

// fieldsOf reads NAME=VALUE|NAME=VALUE, in any bytes.
func fieldsOf(text string) (all []field) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, "|") {
		name, value, _ := strings.Cut(part, "=")
		all = append(all, field{name, value})
	}
	return all
}

// FuzzFields sends a request with these fields, body and trailers over HTTP/2 and HTTP/3, where all is framed by its length. So one request comes
// to the origin at most, and whatever their bytes are, they may not become lines of an HTTP/1.1 request on the way.
func FuzzFields(f *testing.F) {
	const get, post = ":method=GET|:scheme=https|:authority=localhost|:path=/a", ":method=POST|:scheme=https|:authority=localhost|:path=/a"
	for _, fields := range []string{
		get, "x=1|" + get, get + "|:path=/b", get + "|:method=GET", get + "|:status=200", get + "|:protocol=websocket", get + "|:=", get + "|:Path=/", strings.ToUpper(get),
		":scheme=https|:authority=localhost|:path=/a", ":method=GET|:authority=localhost|:path=/a", ":method=GET|:scheme=https|:path=/a", ":method=GET|:scheme=https|:authority=localhost",
		":method=CONNECT|:authority=localhost:443", ":method=CONNECT|:protocol=websocket|:scheme=https|:authority=localhost|:path=/a", ":method=OPTIONS|:scheme=https|:authority=localhost|:path=*",
		":method=HEAD|:scheme=https|:authority=localhost|:path=/a", ":method=G ET|:scheme=https|:authority=localhost|:path=/a", ":method=|:scheme=https|:authority=localhost|:path=/a",
		":method=GET|:scheme=ftp|:authority=localhost|:path=/a", ":method=GET|:scheme=https|:authority=a\x00|:path=/a", ":method=GET|:scheme=https|:authority=|:path=/a",
	} {
		f.Add(fields, "", "")
	}
	for _, path := range []string{
		"", " ", "*", "/ HTTP/1.1\r\nx: y", "/a b", "/\x00", "/\xff", "http://a/", "//", "a", "?", "#", "/a " + within, "/a\r\n\r\n" + within, "/" + strings.Repeat("a", 20_000), "/a?" + strings.Repeat("a,", 2_000), `/..\..`,
	} {
		f.Add(":method=GET|:scheme=https|:authority=localhost|:path="+path, "", "")
	}
	for _, one := range []string{
		"x=a\r\nX-Injected: 1", "x=a\n\n" + within, "cookie=a\r\n\r\n" + within, "x=a\x00b", "x=a\rb", "x=\x7f", "x= a", "x=a ", "x=\ta", "X-Upper=1", "=1", "x y=1", "x:=1", "x\r\ny=1", "x\x00=1",
		"gr\xc3\xbcn=1", "x\r\n\r\n" + within + "=1", "(=1", strings.Repeat("x", 5_000) + "=1", "connection=close", "keep-alive=x", "proxy-connection=close", "upgrade=h2c", "te=gzip", "host=localhost, a", "host=other",
		"host=", "transfer-encoding=chunked", "transfer-encoding=\tchunked", "content-length=-1", "content-length=+1", "content-length=0x5", "content-length=1, 1", "content-length=", "content-length=5\r\nx: y",
		"content-length=99999999999999999999", "expect=100-continue", "expect=nothing", "range=bytes=0-,-1,99-1", "mf-cf-blob={\"asn\":", "mf_cf_blob=null", "cf-worker=1", "cf_connecting_ip=::ffff:1.2.3.4, x",
		"x-forwarded-for=" + strings.Repeat("a,", 2_000), "early-data=1", "cookie=" + strings.Repeat("\"", 999), "__proto__=x", "sec-fetch-dest=document|sec-fetch-mode=navigate", "alt-svc=clear", "priority=u=9, i=?2",
		strings.Repeat("x=a|", 3_000) + "y=1", strings.Repeat("cookie="+strings.Repeat("a", 1_000)+"|", 100) + "y=1", "x=" + strings.Repeat("a", 20_000),
	} {
		f.Add(get+"|"+one, "", "")
	}
	for _, length := range []string{"", "|content-length=0", "|content-length=5", "|content-length=5000", "|transfer-encoding=chunked", "|content-length=5|content-length=6", "|content-length=5|content-length=5"} {
		f.Add(post+length, "aaaaa"+within, "")
		f.Add(get+length, "0\r\n\r\n"+within, "")
	}
	for _, trailers := range []string{":path=/", ":status=500", "content-length=5", "transfer-encoding=chunked", "host=x", "x=a\r\n\r\n" + within, "X=1", "x=1"} {
		f.Add(post, "aaaaa", trailers)
	}
	a := startAttacked(f)
	f.Fuzz(func(t *testing.T, fields, body, trailers string) {
		for _, send := range []func(*testing.T, []field, []field, string) (int, string){a.overHTTP2, a.overHTTP3} {
			a.mu.Lock()
			a.ids++
			id := strconv.Itoa(a.ids)
			a.mu.Unlock()
			status, text := send(t, append(fieldsOf(fields), field{"x-id", id}), fieldsOf(trailers), body)
			a.judge(t, status, text)
			if fields == get && body == "" && trailers == "" && status != http.StatusOK {
				t.Errorf("a request that keeps the rules is answered with %d", status)
			}
			a.mu.Lock()
			if a.reached[id] > 1 {
				t.Errorf("%d requests came to the origin", a.reached[id])
			}
			if a.reached[""] > 0 {
				t.Errorf("what was in a body or a field came to the origin as a request: %q", a.targets)
			}
			clear(a.reached)
			a.targets = nil
			a.mu.Unlock()
		}
	})
}

// overHTTP2 sends a request, and reads with a parser of HTTP/2 that is not the edge's, until the server has answered a PING and the request, or has
// ended the stream or the connection: then the status is 0.
func (a *attacked) overHTTP2(t *testing.T, fields, trailers []field, body string) (status int, text string) {
	t.Helper()
	conn := a.dial(t, "h2")
	framer := http2.NewFramer(conn, conn)
	framer.AllowIllegalWrites, framer.ReadMetaHeaders = true, hpack.NewDecoder(4096, nil)
	_, _ = conn.Write([]byte(http2.ClientPreface))
	_ = framer.WriteSettings()
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	write := func(fields []field, ends bool) {
		for _, f := range fields {
			_ = encoder.WriteField(hpack.HeaderField{Name: f.name, Value: f.value})
		}
		first := block.Next(16_000)
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: first, EndStream: ends, EndHeaders: block.Len() == 0})
		for block.Len() > 0 {
			part := block.Next(16_000)
			_ = framer.WriteContinuation(1, block.Len() == 0, part)
		}
	}
	write(fields, body == "" && trailers == nil)
	if body != "" {
		_ = framer.WriteData(1, trailers == nil, []byte(body)[:min(len(body), 16_000)])
	}
	if trailers != nil {
		write(trailers, true)
	}
	_ = framer.WritePing(false, [8]byte{1})
	for pinged, ended := false, false; !pinged || !ended; {
		frame, err := framer.ReadFrame()
		switch {
		case errors.As(err, new(http2.StreamError)):
			t.Fatalf("a broken answer: %v", err)
		case errors.Is(err, os.ErrDeadlineExceeded):
			t.Fatalf("within %v: a PING came back: %v, the request was answered: %v", 2*hangs, pinged, ended)
		case err != nil:
			return status, text
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			pinged = pinged || f.IsAck()
		case *http2.MetaHeadersFrame:
			status, _ = strconv.Atoi(f.PseudoValue("status"))
			ended = f.StreamEnded()
		case *http2.DataFrame:
			text += string(f.Data())
			ended = f.StreamEnded()
		case *http2.RSTStreamFrame:
			ended = true
		case *http2.GoAwayFrame:
			if f.ErrCode == http2.ErrCodeInternal {
				t.Error("the connection ended with INTERNAL_ERROR")
			}
			if f.ErrCode != http2.ErrCodeNo {
				return status, text // the server ends the connection a second later
			}
		}
	}
	return status, text
}

// frameHTTP3 has this payload, and says that it has excess bytes more.
func frameHTTP3(kind uint64, payload string, excess uint64) string {
	return string(quicvarint.Append(quicvarint.Append(nil, kind), uint64(len(payload))+excess)) + payload
}

func headersFrame(fields []field) string {
	var block bytes.Buffer
	encoder := qpack.NewEncoder(&block)
	for _, f := range fields {
		_ = encoder.WriteField(qpack.HeaderField{Name: f.name, Value: f.value})
	}
	return frameHTTP3(1, block.String(), 0)
}

// emptySettings begins a client's control stream.
const emptySettings = "\x00\x04\x00"

func (a *attacked) overHTTP3(t *testing.T, fields, trailers []field, body string) (status int, text string) {
	t.Helper()
	request := headersFrame(fields)
	if body != "" {
		request += frameHTTP3(0, body, 0)
	}
	if trailers != nil {
		request += headersFrame(trailers)
	}
	return a.onStreams(t, emptySettings, request)
}

// onStreams writes a stream of one way, which stays open, and a request stream, and reads what comes on that. Where the server ends the stream or
// the connection, the status is 0.
func (a *attacked) onStreams(t *testing.T, control, request string) (status int, text string) {
	t.Helper()
	conn := a.dialQUIC(t)
	oneWay, err := conn.OpenUniStream()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = oneWay.Write([]byte(control))
	stream, err := conn.OpenStream()
	if err != nil {
		return 0, "" // the server has ended the connection
	}
	_ = stream.SetDeadline(time.Now().Add(hangs))
	_, _ = stream.Write([]byte(request))
	_ = stream.Close()
	came, err := io.ReadAll(stream)
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() && conn.Context().Err() == nil {
		t.Fatalf("a request stream was not answered within %v", hangs)
	}
	var application *quic.ApplicationError
	var transport *quic.TransportError
	ended := context.Cause(conn.Context())
	if errors.As(ended, &application) && application.ErrorCode == quic.ApplicationErrorCode(http3.ErrCodeInternalError) ||
		errors.As(ended, &transport) && transport.ErrorCode == quic.InternalError {
		t.Errorf("the connection ended because of an error inside the server: %v", ended)
	}
	in := bytes.NewReader(came)
	for in.Len() > 0 {
		kind, kindErr := quicvarint.Read(in)
		length, lengthErr := quicvarint.Read(in)
		if kindErr != nil || lengthErr != nil || length > uint64(in.Len()) {
			if err == nil {
				t.Error("a frame of an answer is cut")
			}
			break
		}
		payload := make([]byte, length)
		_, _ = in.Read(payload)
		switch kind {
		case 0:
			text += string(payload)
		case 1:
			if field, err := qpack.NewDecoder().Decode(payload)(); err == nil && field.Name == ":status" {
				status, _ = strconv.Atoi(field.Value)
			}
		}
	}
	return status, text
}

// FuzzHTTP3 sends bytes on a stream of one way and on a request stream.
func FuzzHTTP3(f *testing.F) {
	fields := fieldsOf(":method=POST|:scheme=https|:authority=localhost|:path=/a")
	start, data := headersFrame(fields), frameHTTP3(0, "aaaaa", 0)
	whole := start + data + headersFrame([]field{{"x", "1"}})
	for _, control := range []string{
		emptySettings, "", "\x00", "\x00" + frameHTTP3(4, "\x06\x01\x06\x01", 0), "\x00" + frameHTTP3(4, "\x02\x00", 0), "\x00" + frameHTTP3(4, "\x33\x05", 0), "\x00" + frameHTTP3(4, "\x01", 0),
		emptySettings + emptySettings[1:], emptySettings + data, emptySettings + frameHTTP3(7, "\x03", 0), emptySettings + frameHTTP3(0x21, "a", 0), emptySettings + frameHTTP3(0x2, "", 0),
		emptySettings + frameHTTP3(0x21, "", 1<<50), "\x01a", "\x02\xff\xff\xff", "\x03\xff\xff\xff", "\x40\x54aaa", "\x80\x0f\x07\x00aa",
	} {
		f.Add(control, whole)
	}
	for _, kind := range []uint64{0, 1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x9, 0xd, 0x21, 0xf0700, 1<<62 - 1} {
		for _, excess := range []uint64{0, 1, 70_000, 1 << 61} {
			odd := frameHTTP3(kind, within, excess)
			for _, request := range []string{odd + start + data, start + odd + data, start + data + odd} {
				f.Add(emptySettings, request)
			}
		}
	}
	for _, request := range []string{
		"", "\x01", data + start, start + start, start, whole[:10], whole[:len(whole)-3], frameHTTP3(1, "\x00\x00\xff\xff\xff", 0), frameHTTP3(1, "\x00\x00"+strings.Repeat("\xd1", 30_000), 0), frameHTTP3(1, "\x05\x80\x10\x99", 0),
	} {
		f.Add(emptySettings, request)
	}
	a := startAttacked(f)
	f.Fuzz(func(t *testing.T, control, request string) {
		status, text := a.onStreams(t, control, request)
		a.judge(t, status, text)
		if control == emptySettings && request == whole && status != http.StatusOK {
			t.Errorf("a request that keeps the rules is answered with %d", status)
		}
		a.judgeOrigin(t)
	})
}
