package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

func TestBodiesPassByteForByte(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
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
				body := edgetest.Pattern(n)
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
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
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

// A visitor who does not read holds the upstream back: neither side's bytes pile up here.
func TestBackpressure(t *testing.T) {
	const limit = 64 << 20
	forProtocols(t, func(t *testing.T, protocol string) {
		written := make(chan int, 1)
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
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
		if n := edgetest.Receive(t, "halt of the upstream", written); n >= limit {
			t.Fatalf("the upstream could send %d bytes to a visitor who read none", n)
		}
	})
}

// A GET over HTTP/3 cannot be told from one with a body at first; the upstream must not see one. One that has a body
// keeps it.
func TestHTTP3BodiesOfGet(t *testing.T) {
	got := make(chan string, 1)
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
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
		if s := edgetest.Receive(t, "request", got); s != want {
			t.Errorf("body %q reached the upstream as %q, want %q", body, s, want)
		}
	}
}

func TestTrailersOfResponses(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
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
