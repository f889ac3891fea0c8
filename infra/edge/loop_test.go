package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// An origin that leads back to the edge is asked once, with the worker and without it.
func TestLoopEnds(t *testing.T) {
	for _, way := range []string{"by the worker", "while the worker is gone"} {
		t.Run(way, func(t *testing.T) {
			forProtocols(t, func(t *testing.T, protocol string) {
				var passed atomic.Int64
				var back atomic.Pointer[httputil.ReverseProxy]
				relay := edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/heartbeat" && passed.Add(1) < 10 {
						back.Load().ServeHTTP(w, r)
					}
				})
				args := []string{}
				worker := relay
				if way != "by the worker" {
					worker = "http://" + edgetest.RefusingAddress(t)
					args = append(args, "-samples", worker, "-origin", relay)
				}
				e := startEdgeWith(t, worker, args...)
				c := e.client(protocol)
				to := &url.URL{Scheme: "https", Host: e.addresses[0]}
				back.Store(&httputil.ReverseProxy{Transport: c.Transport, Rewrite: func(pr *httputil.ProxyRequest) { pr.SetURL(to) }})
				status, text := e.text(e.client(protocol), http.MethodGet, "/", "")
				if status != http.StatusLoopDetected || passed.Load() != 1 || !strings.Contains(text, "leads back") {
					t.Errorf("status %d after %d times: %s", status, passed.Load(), text)
				}
				if !strings.Contains(e.stderr.String(), "the origin leads here") {
					t.Errorf("said: %s", e.stderr)
				}
			})
		})
	}
}

// The names of others stay, and a request that was elsewhere before passes.
func TestOtherNamesInCDNLoopPass(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.Join(r.Header.Values("CDN-Loop"), ", "))
		}))
		req, err := http.NewRequest(http.MethodGet, e.url("/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("CDN-Loop", "adaptive-h3-0123456789abcdef, other.example")
		res, err := e.client(protocol).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		got, _ := io.ReadAll(res.Body)
		if own, found := strings.CutPrefix(string(got), "adaptive-h3-0123456789abcdef, other.example, adaptive-h3-"); !found || len(own) != 26 {
			t.Errorf("%s: %q", res.Status, got)
		}
	})
}
