package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A visitor who pauses in a request body is told so in time, whether the upstream waits for the rest or has died.
func TestPausedBodyIsBounded(t *testing.T) {
	upstreams := map[string]http.HandlerFunc{
		"waits": func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) },
		"died":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	for name, upstream := range upstreams {
		t.Run(name, func(t *testing.T) {
			e := startEdgeWith(t, edgetest.StartUpstream(t, upstream), "-config", "body-timeout=200ms", "-config", "upstream-timeout=20s")
			// By hand over HTTP/1.1: net/http's client itself does not see an answer while its body pauses.
			c := e.rawTLS()
			fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode != http.StatusRequestTimeout || !res.Close {
				t.Errorf("HTTP/1.1: %s, close %v", res.Status, res.Close)
			}
			for _, protocol := range []string{"HTTP/2", "HTTP/3"} {
				in, out := io.Pipe()
				t.Cleanup(func() { out.Close() })
				go func() { _, _ = io.WriteString(out, "first") }()
				res, err := e.client(protocol).Post(e.url("/"), "text/plain", in)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != http.StatusRequestTimeout {
					t.Errorf("%s: %s", protocol, res.Status)
				}
			}
		})
	}
}

// Pauses shorter than the bound, and the next request on the same connection after the bound, are not affected; nor is
// the body of a stream that has been answered.
func TestBodyBoundEnds(t *testing.T) {
	const bound = 150 * ms
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			_ = http.NewResponseController(w).EnableFullDuplex()
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.Copy(w, r.Body)
	}), "-config", "body-timeout="+bound.String())
	forProtocols(t, func(t *testing.T, protocol string) {
		client := e.client(protocol)
		for range 2 {
			in, out := io.Pipe()
			go func() {
				_, _ = io.WriteString(out, "one ")
				time.Sleep(bound / 3) // the pause is the case
				_, _ = io.WriteString(out, "two")
				out.Close()
			}()
			res, err := client.Post(e.url("/"), "text/plain", in)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || string(body) != "one two" {
				t.Errorf("%q, %v", body, err)
			}
			time.Sleep(2 * bound) // longer than the bound, between requests: that is the case
		}

		in, out := io.Pipe()
		go func() { _, _ = io.WriteString(out, "first ") }()
		res, err := client.Post(e.url("/stream"), "text/plain", in)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		time.Sleep(2 * bound) // after the answer has begun the stream may pause: that is the case
		go func() {
			_, _ = io.WriteString(out, "second")
			out.Close()
		}()
		if body, err := io.ReadAll(res.Body); err != nil || string(body) != "first second" {
			t.Errorf("stream: %q, %v", body, err)
		}
	})
}
