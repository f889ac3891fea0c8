package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// startHanging starts an upstream that keeps each request for /hang until hang is closed, and tells started of it.
func startHanging(t *testing.T) (url string, started, hang chan struct{}) {
	started, hang = make(chan struct{}, 10), make(chan struct{})
	return edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			started <- struct{}{}
			<-hang
		}
	}), started, hang
}

// Requests beyond the bound get a 503 that says when to come again; others are served as soon as there is room.
func TestRequestsInFlightAreBounded(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		upstream, started, hang := startHanging(t)
		e := startEdgeWith(t, upstream, "-max-requests", "1")
		c := e.client(protocol)
		var hanging sync.WaitGroup
		hanging.Go(func() { e.get(c, "/hang") })
		edgetest.Receive(t, "request", started)
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			req, err := http.NewRequest(method, e.url("/"), strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			res, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") != "1" ||
				!strings.HasPrefix(string(text), "503 Service Unavailable: too many requests at a time") {
				t.Errorf("%s: %s %v %q, %v", method, res.Status, res.Header, text, err)
			}
		}
		close(hang)
		hanging.Wait()
		if res, _ := e.get(c, "/"); res.StatusCode != http.StatusOK {
			t.Errorf("afterwards: %s", res.Status)
		}
	})
}

// A request that is refused over HTTP/1.1 leaves no body behind that could be read as the next request.
func TestRefusedBodyIsNoRequest(t *testing.T) {
	hang := make(chan struct{})
	started := make(chan struct{}, 1)
	var seen atomic.Int64
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {
		seen.Add(1)
		started <- struct{}{}
		<-hang
	}), "-max-requests", "1")
	c := e.client("HTTP/2")
	var hanging sync.WaitGroup
	hanging.Go(func() { e.get(c, "/hang") })
	edgetest.Receive(t, "request", started)
	raw := e.rawTLS()
	fmt.Fprint(raw, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable || !res.Close {
		t.Errorf("%s, close %v", res.Status, res.Close)
	}
	close(hang)
	hanging.Wait()
	if n := seen.Load(); n != 1 {
		t.Errorf("%d requests at the upstream", n)
	}
}

// A client asks for no more at a time on a connection than it is told; the rest waits on its side, and is served.
func TestStreamsOfAConnection(t *testing.T) {
	for _, protocol := range []string{"HTTP/2", "HTTP/3"} {
		t.Run(protocol, func(t *testing.T) {
			const streams, requests = 5, 40
			var now, most atomic.Int64
			e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
				most.Store(max(most.Load(), now.Add(1)))
				http.NewResponseController(w).Flush()
				now.Add(-1)
			}), "-config", "max-streams="+fmt.Sprint(streams))
			c := e.client(protocol)
			e.get(c, "/") // one connection, whose settings are known
			var all sync.WaitGroup
			for range requests {
				all.Go(func() { e.get(c, "/") })
			}
			all.Wait()
			if n := most.Load(); n > streams {
				t.Errorf("%d at a time, want at most %d", n, streams)
			}
		})
	}
}

// While one client holds all places that it can get, and others wait, a call of the worker's API still finds one.
func TestAPIHasPlacesOfItsOwn(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		upstream, started, hang := startHanging(t)
		e := startEdgeWith(t, upstream, "-max-requests", "2")
		var hanging sync.WaitGroup
		for range 2 {
			c := e.client(protocol)
			hanging.Go(func() { e.get(c, "/hang") })
			edgetest.Receive(t, "request", started)
		}
		c := e.client(protocol)
		if res, _ := e.get(c, "/_h3/v1/health"); res.StatusCode != http.StatusOK {
			t.Errorf("the API: %s", res.Status)
		}
		// Visitors' pages ask for the last two by themselves.
		var refused sync.WaitGroup
		for _, path := range []string{"/", "/_h3/v1/reporter.js", "/_h3/v1/report"} {
			refused.Go(func() {
				if res, _ := e.get(c, path); res.StatusCode != http.StatusServiceUnavailable {
					t.Errorf("%s: %s", path, res.Status)
				}
			})
		}
		refused.Wait()
		close(hang)
		hanging.Wait()
	})
}
