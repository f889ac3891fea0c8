package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// Without a Host the upstream's own name would stand in its place.
func TestRequestWithoutHost(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) { t.Error("it came through") }))
	for _, head := range []string{"GET / HTTP/1.0\r\n", "GET / HTTP/1.0\r\nHost:\r\n", "GET / HTTP/1.1\r\nHost:\r\n", "GET / HTTP/1.1\r\n"} {
		c := e.rawTLS()
		fmt.Fprintf(c, "%s\r\n", head)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("%q: %s", head, res.Status)
		}
	}
}

func forProtocols(t *testing.T, f func(t *testing.T, protocol string)) {
	t.Helper()
	for _, p := range protocols {
		t.Run(p, func(t *testing.T) { f(t, p) })
	}
}

func TestRequestAndResponsePassUnchanged(t *testing.T) {
	const target = `/a|b/%7Ec//d^"e?x=;y&%zz=1&u={v}`
	type seen struct {
		uri, host string
		header    http.Header
		body      int64
	}
	forProtocols(t, func(t *testing.T, protocol string) {
		requests := make(chan seen, 1)
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			requests <- seen{r.RequestURI, r.Host, r.Header, r.ContentLength}
			h := w.Header()
			h["Content-Type"] = nil
			h.Set("Date", "Thu, 01 Jan 1970 00:00:00 GMT")
			h.Set("Server-Timing", "origin;dur=5")
			h.Set("Via", "1.1 somebody")
			h.Set("Content-Encoding", "gzip") // which the body is not: nobody must look
			h.Set("Alt-Svc", "clear")
			h["Set-Cookie"] = []string{"a=1", "b=2"}
			h.Set("Cache-Control", "max-age=60")
			w.WriteHeader(http.StatusTeapot)
			if r.Method != http.MethodHead {
				io.WriteString(w, "<html>not gzip")
			}
		}), "-host", "site.example")
		c := e.client(protocol)
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			req, err := http.NewRequest(method, e.url("/"), nil)
			if err != nil {
				t.Fatal(err)
			}
			if protocol != "HTTP/3" { // its client encodes what it does not know
				req.URL.Opaque = target[:strings.Index(target, "?")]
				if protocol == "HTTP/2" {
					req.URL.Opaque = "//site.example:4433" + req.URL.Opaque
				}
				req.URL.RawQuery = target[strings.Index(target, "?")+1:]
			}
			req.Host = "site.example:4433"
			req.Header.Set("User-Agent", "")
			res, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			got := edgetest.Receive(t, "request", requests)
			if protocol != "HTTP/3" && got.uri != target {
				t.Errorf("%s: asked for %s, the upstream saw %s", method, target, got.uri)
			}
			if got.host != "site.example:4433" || got.body != 0 {
				t.Errorf("%s: host %q, body %d", method, got.host, got.body)
			}
			for _, invented := range []string{"Accept-Encoding", "Transfer-Encoding", "Content-Length", "Via"} {
				if v, ok := got.header[invented]; ok {
					t.Errorf("%s: the edge added %s: %q", method, invented, v)
				}
			}
			want := map[string][]string{
				"Date": {"Thu, 01 Jan 1970 00:00:00 GMT"}, "Via": {"1.1 somebody"}, "Content-Encoding": {"gzip"},
				"Alt-Svc": {"clear"}, "Set-Cookie": {"a=1", "b=2"}, "Cache-Control": {"max-age=60"},
				"Server-Timing": res.Header["Server-Timing"],
			}
			if method == http.MethodGet {
				want["Content-Length"] = []string{strconv.Itoa(len(body))}
				if string(body) != "<html>not gzip" {
					t.Errorf("body %q", body)
				}
			}
			if fmt.Sprint(http.Header(want)) != fmt.Sprint(res.Header) || res.StatusCode != http.StatusTeapot {
				t.Errorf("%s: %d\n got %v\nwant %v", method, res.StatusCode, res.Header, want)
			}
			if st := res.Header["Server-Timing"]; len(st) != 2 || st[0] != "origin;dur=5" {
				t.Errorf("%s: the upstream's Server-Timing must stay: %q", method, st)
			}
		}
	})
}

// The servers would guess a type from the body; what the upstream leaves out stays out.
func TestNoHeaderIsGuessed(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			io.WriteString(w, "<!doctype html><title>a</title>")
		}), "-server-timing=false")
		res, _ := e.get(e.client(protocol), "/")
		res.Header.Del("Content-Length") // framing
		res.Header.Del("Date")           // RFC 9110, section 6.6.1: who forwards a response without one adds it
		if len(res.Header) > 0 {
			t.Errorf("%v", res.Header)
		}
	})
}

func TestUpstreamOverUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "upstream.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Host)
	})}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
	e := startEdgeWith(t, "unix:"+path)
	forProtocols(t, func(t *testing.T, protocol string) {
		if _, body := e.get(e.client(protocol), "/"); string(body) != e.addresses[0] {
			t.Fatalf("got %q", body)
		}
	})
}

func TestConnectIsRefused(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {
		t.Error("a CONNECT reached the upstream")
	}))
	c := e.rawTLS()
	fmt.Fprintf(c, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
	answer := make([]byte, 12)
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 501" {
		t.Fatalf("%q, %v", answer, err)
	}
}

func TestAltSvc(t *testing.T) {
	const offer = `h3=":443"; ma=5`
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/offered" {
			w.Header().Add("Alt-Svc", offer)
		}
		w.WriteHeader(http.StatusEarlyHints)
	}))
	forProtocols(t, func(t *testing.T, protocol string) {
		for path, want := range map[string][]string{"/": nil, "/offered": {offer}} {
			if res, _ := e.get(e.client(protocol), path); !slices.Equal(res.Header["Alt-Svc"], want) {
				t.Errorf("%s: got %q, want %q", path, res.Header["Alt-Svc"], want)
			}
		}
	})
}

// Over HTTP/2 and HTTP/3 a space may stand in :path; HTTP/1.1 has no way to pass it on.
func TestSpaceInTarget(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) { t.Error("it came through") }))
	for _, protocol := range []string{"HTTP/2", "HTTP/3"} {
		for _, target := range []string{"/a HTTP/1.0 x", "/a?q=b c"} {
			req, err := http.NewRequest(http.MethodGet, e.url("/"), nil)
			if err != nil {
				t.Fatal(err)
			}
			req.URL.Opaque = target
			res, err := e.client(protocol).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusBadRequest {
				t.Errorf("%s %s: %s", protocol, target, res.Status)
			}
		}
	}
}
