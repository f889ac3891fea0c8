package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func forProtocols(t *testing.T, f func(t *testing.T, protocol string)) {
	t.Helper()
	for _, p := range protocols {
		t.Run(p, func(t *testing.T) { f(t, p) })
	}
}

func TestBodiesPassByteForByte(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Request-Length", strconv.FormatInt(r.ContentLength, 10))
			if r.URL.Query().Get("length") == "known" {
				w.Header().Set("Content-Length", strconv.FormatInt(r.ContentLength, 10))
			}
			http.NewResponseController(w).EnableFullDuplex()
			io.Copy(w, r.Body)
		}))
		c := e.client(protocol)
		for _, n := range []int{0, 1, 4095, 4096, 100_000, 8 << 20} {
			for _, length := range []string{"known", "unknown"} {
				body := pattern(n)
				var in io.Reader = bytes.NewReader(body)
				if length == "unknown" {
					in = io.MultiReader(in) // hides the length
				}
				res, err := c.Post(e.url("/?length="+length), "application/octet-stream", in)
				if err != nil {
					t.Fatal(err)
				}
				out, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || !bytes.Equal(out, body) {
					t.Fatalf("%d bytes, length %s: got %d bytes back, %v", n, length, len(out), err)
				}
				if length == "known" && res.Header.Get("X-Request-Length") != strconv.Itoa(n) {
					t.Errorf("%d bytes reached the upstream with Content-Length %s", n, res.Header.Get("X-Request-Length"))
				}
			}
		}
	})
}

// A message goes each way before either body ends.
func TestStreamsBothWays(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			rc := http.NewResponseController(w)
			rc.EnableFullDuplex()
			rc.Flush()
			io.Copy(flushWriter{w, rc}, r.Body)
		}))
		in, out := io.Pipe()
		res, err := e.client(protocol).Post(e.url("/"), "text/plain", in)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		for i := range 3 {
			message := fmt.Appendf(nil, "message %d", i)
			if _, err := out.Write(message); err != nil {
				t.Fatal(err)
			}
			echo := make([]byte, len(message))
			if _, err := io.ReadFull(res.Body, echo); err != nil || !bytes.Equal(echo, message) {
				t.Fatalf("echo %q, %v", echo, err)
			}
		}
		out.Close()
		if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
			t.Fatalf("rest %q, %v", rest, err)
		}
	})
}

type flushWriter struct {
	io.Writer
	rc *http.ResponseController
}

func (f flushWriter) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	f.rc.Flush()
	return n, err
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
		e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
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
		}))
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
			got := receive(t, "request", requests)
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
		e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
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

// The upstream closes a connection of the pool just as a request goes out on it: the request is sent again, over HTTP/3
// too, where it has to be known first that it has no body.
func TestClosedConnectionOfThePool(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		var requests atomic.Int64
		e := startEdgeWith(t, startUpstream(t, func(http.ResponseWriter, *http.Request) {
			if requests.Add(1) == 2 {
				panic(http.ErrAbortHandler) // closes without an answer
			}
		}))
		c := e.client(protocol)
		for range 2 {
			if res, body := e.get(c, "/"); res.StatusCode != http.StatusOK {
				t.Errorf("%s %s", res.Status, body)
			}
		}
		if n := requests.Load(); n != 3 {
			t.Errorf("%d requests at the upstream, want 3", n)
		}
	})
}

func TestUpstreamFaults(t *testing.T) {
	stalling := func(t *testing.T) string {
		end := make(chan struct{})
		url := startUpstream(t, func(http.ResponseWriter, *http.Request) { <-end })
		t.Cleanup(func() { close(end) }) // before the server is closed, which waits for its handlers
		return url
	}
	refusing := func(t *testing.T) string {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ln.Close() // its port answers nobody
		return "http://" + ln.Addr().String()
	}
	hangup := func(t *testing.T) string {
		return startUpstream(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	}
	cases := []struct {
		name     string
		upstream func(t *testing.T) string
		body     int
		status   int
	}{
		{"refusing", refusing, 0, http.StatusBadGateway},
		{"refusing a body", refusing, 1 << 20, http.StatusBadGateway},
		{"no such socket", func(t *testing.T) string { return "unix:" + filepath.Join(t.TempDir(), "none") }, 0, http.StatusBadGateway},
		{"hanging up", hangup, 0, http.StatusBadGateway},
		{"stalling", stalling, 0, http.StatusGatewayTimeout},
		// More than all buffers on the way hold: it can only end by the clock of headerTimeout.
		{"not reading a body", stalling, 32 << 20, http.StatusGatewayTimeout},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			forProtocols(t, func(t *testing.T, protocol string) {
				e := startEdgeWith(t, tc.upstream(t), "-upstream-timeout", "200ms")
				method, body := http.MethodGet, io.Reader(nil)
				if tc.body > 0 {
					method, body = http.MethodPost, bytes.NewReader(make([]byte, tc.body))
				}
				req, err := http.NewRequest(method, e.url("/"), body)
				if err != nil {
					t.Fatal(err)
				}
				res, err := e.client(protocol).Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				text, err := io.ReadAll(res.Body)
				if err != nil || res.StatusCode != tc.status || !strings.HasPrefix(string(text), strconv.Itoa(tc.status)+" ") ||
					res.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
					t.Fatalf("%d %q %v %v", res.StatusCode, text, res.Header, err)
				}
				if n := strings.Count(e.stderr.String(), "\n"); n != 1 {
					t.Errorf("%d lines on stderr, want 1: %s", n, e.stderr)
				}
			})
		})
	}
}

// What breaks off must not look whole, with and without a Content-Length.
func TestUpstreamDiesInMidBody(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		for _, length := range []string{"", "1000000"} {
			for _, n := range []int{100, 200_000} {
				t.Run(fmt.Sprintf("length %q after %d bytes", length, n), func(t *testing.T) {
					e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
						if length != "" {
							w.Header().Set("Content-Length", length)
						}
						w.Write(make([]byte, n))
						http.NewResponseController(w).Flush()
						panic(http.ErrAbortHandler)
					}))
					res, err := e.client(protocol).Get(e.url("/"))
					if err != nil {
						return // nothing came at all: nobody takes that for whole
					}
					defer res.Body.Close()
					if got, err := io.ReadAll(res.Body); err == nil {
						t.Fatalf("%d bytes passed for the whole response", len(got))
					}
				})
			}
		}
	})
}

// A visitor who leaves, in mid-response or in mid-request, cancels the request to the upstream.
func TestClientLeavesInMidBody(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		for _, direction := range []string{"response", "request", "before the response"} {
			t.Run(direction, func(t *testing.T) {
				cancelled := make(chan error, 1)
				started := make(chan struct{})
				e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
					if direction == "before the response" {
						close(started)
						<-r.Context().Done()
						cancelled <- r.Context().Err()
						return
					}
					if direction == "request" {
						io.ReadFull(r.Body, make([]byte, 1000))
						close(started)
						_, err := io.Copy(io.Discard, r.Body)
						cancelled <- err
						return
					}
					var err error
					for err == nil {
						_, err = w.Write(make([]byte, 64<<10))
					}
					cancelled <- err
				}))
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				method, body := http.MethodGet, io.Reader(nil)
				if direction == "request" {
					method, body = http.MethodPost, &endlessBody{ctx}
				}
				req, err := http.NewRequestWithContext(ctx, method, e.url("/"), body)
				if err != nil {
					t.Fatal(err)
				}
				c := e.client(protocol)
				if direction != "response" {
					failed := make(chan error, 1)
					go func() {
						res, err := c.Do(req)
						if err == nil {
							res.Body.Close()
						}
						failed <- err
					}()
					receive(t, "request", started)
					leave()
					receive(t, "end of the client's request", failed)
				} else {
					res, err := c.Do(req)
					if err != nil {
						t.Fatal(err)
					}
					io.ReadFull(res.Body, make([]byte, 200_000))
					leave()
					res.Body.Close()
				}
				if err := receive(t, "end of the upstream's request", cancelled); err == nil {
					t.Fatal("the upstream took the request for whole")
				}
				// Visitors leave all the time: no error, and nobody's fault.
				if e.end(); e.stderr.String() != "" {
					t.Errorf("stderr: %s", e.stderr)
				}
			})
		}
	})
}

// endlessBody gives bytes until its context ends.
type endlessBody struct{ ctx context.Context }

func (b *endlessBody) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A visitor who does not read holds the upstream back: neither side's bytes pile up here.
func TestBackpressure(t *testing.T) {
	const limit = 64 << 20
	forProtocols(t, func(t *testing.T, protocol string) {
		written := make(chan int, 1)
		e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			total := 0
			rc := http.NewResponseController(w)
			for total < limit {
				rc.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
				n, err := w.Write(make([]byte, 64<<10))
				total += n
				if err != nil {
					break
				}
			}
			written <- total
		}))
		res, err := e.client(protocol).Get(e.url("/"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if n := receive(t, "halt of the upstream", written); n >= limit {
			t.Fatalf("the upstream could send %d bytes to a visitor who read none", n)
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

// A GET over HTTP/3 cannot be told from one with a body at first; the upstream must not see one. One that has a body
// keeps it.
func TestHTTP3BodiesOfGet(t *testing.T) {
	got := make(chan string, 1)
	e := startEdgeWith(t, startUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- fmt.Sprintf("%d %v %s", r.ContentLength, r.TransferEncoding, body)
	}))
	c := e.client("HTTP/3")
	for body, want := range map[string]string{"": "0 [] ", "abc": "-1 [chunked] abc"} {
		var in io.Reader
		if body != "" {
			in = io.MultiReader(strings.NewReader(body))
		}
		req, err := http.NewRequest(http.MethodGet, e.url("/"), in)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if s := receive(t, "request", got); s != want {
			t.Errorf("body %q reached the upstream as %q, want %q", body, s, want)
		}
	}
}

func TestConnectIsRefused(t *testing.T) {
	e := startEdgeWith(t, startUpstream(t, func(http.ResponseWriter, *http.Request) {
		t.Error("a CONNECT reached the upstream")
	}))
	c := e.rawTLS()
	fmt.Fprintf(c, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
	answer := make([]byte, 12)
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 501" {
		t.Fatalf("%q, %v", answer, err)
	}
}

func TestTrailersOfResponses(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "body")
			w.Header().Set("X-Sum", "42")
		}))
		res, body := e.get(e.client(protocol), "/")
		if string(body) != "body" || res.Trailer.Get("X-Sum") != "42" {
			t.Fatalf("%q, trailers %v", body, res.Trailer)
		}
	})
}

func TestAltSvc(t *testing.T) {
	cases := []struct {
		mode, host string
		upstream   []string
		want       []string
	}{
		{"pass", "a.example", nil, nil},
		{"pass", "a.example", []string{`h3=":443"; ma=5`}, []string{`h3=":443"; ma=5`}},
		{"strip", "a.example", []string{`h3=":443"; ma=5`, "clear"}, nil},
		{"override", "a.example", []string{"clear"}, []string{`h3=":443"; ma=86400`}},
		{"override", "a.example:8443", nil, []string{`h3=":8443"; ma=86400`}},
		{"override", "[::1]:99", nil, []string{`h3=":99"; ma=86400`}},
		{"override", "[::1]", nil, []string{`h3=":443"; ma=86400`}},
	}
	for _, tc := range cases {
		t.Run(fmt.Sprintf("%s %s %v", tc.mode, tc.host, tc.upstream), func(t *testing.T) {
			e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				for _, v := range tc.upstream {
					w.Header().Add("Alt-Svc", v)
				}
				w.WriteHeader(http.StatusEarlyHints)
			}), "-alt-svc", tc.mode)
			forProtocols(t, func(t *testing.T, protocol string) {
				req, err := http.NewRequest(http.MethodGet, e.url("/"), nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Host = tc.host
				res, err := e.client(protocol).Do(req)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if fmt.Sprint(res.Header["Alt-Svc"]) != fmt.Sprint(tc.want) {
					t.Errorf("got %q, want %q", res.Header["Alt-Svc"], tc.want)
				}
			})
		})
	}
}

func TestAltSvcOverrideOnErrors(t *testing.T) {
	e := startEdgeWith(t, "unix:"+filepath.Join(t.TempDir(), "none"), "-alt-svc", "override")
	res, _ := e.get(e.client("HTTP/2"), "/")
	if res.Header.Get("Alt-Svc") == "" || res.StatusCode != http.StatusBadGateway {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
}

// An upload that the upstream answers early must not hang.
func TestEarlyAnswerToUpload(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}))
		req, err := http.NewRequest(http.MethodPost, e.url("/"), &endlessBody{t.Context()})
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.client(protocol).Do(req)
		if err != nil {
			// Over HTTP/1.1 the edge may close before the client has read the answer: both are ends.
			if protocol == "HTTP/1.1" && !errors.Is(err, context.DeadlineExceeded) {
				return
			}
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusRequestEntityTooLarge && res.StatusCode != http.StatusBadGateway {
			t.Fatal(res.Status)
		}
	})
}
