package main

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// bodies serves a response without end under /endless, and tells when its handler has ended.
func bodies(t *testing.T) (url string, ended chan struct{}) {
	ended = make(chan struct{}, 100)
	block := make([]byte, 64<<10)
	return edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			defer func() { ended <- struct{}{} }()
			for {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		case "/events":
			for i := range 3 {
				fmt.Fprintf(w, "data: %d\n\n", i)
				_ = http.NewResponseController(w).Flush()
				time.Sleep(800 * ms) // longer than the timeout: a quiet origin is the case
			}
		}
	}), ended
}

// A response that its client does not read is ended, and the upstream with it. What a quiet origin sends late is not.
func TestUnreadResponseIsEnded(t *testing.T) {
	upstream, ended := bodies(t)
	e := startEdgeWith(t, upstream, "-config", "unread-timeout=500ms")
	forProtocols(t, func(t *testing.T, protocol string) {
		c := e.client(protocol)
		res, err := c.Get(e.url("/endless"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		edgetest.Receive(t, "end of the request upstream", ended)
		if n, err := io.Copy(io.Discard, res.Body); err == nil {
			t.Errorf("the response ended after %d bytes as if it were whole", n)
		}
		_, body := e.get(e.client(protocol), "/events")
		if string(body) != "data: 0\n\ndata: 1\n\ndata: 2\n\n" {
			t.Errorf("events: %q", body)
		}
	})
}

// A websocket whose client does not read what waits is closed, although the server has more to say.
func TestUnreadWebsocket(t *testing.T) {
	upgraded := make(chan io.ReadWriteCloser, 1)
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		upgraded <- c
	}), "-config", "rest-timeout=500ms")
	fmt.Fprint(e.rawTLS(), "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	end := edgetest.Receive(t, "upgrade", upgraded)
	block := make([]byte, 64<<10)
	for { // until the connection is closed
		if _, err := end.Write(block); err != nil {
			break
		}
	}
}

// A body that comes a byte at a time is refused in time, although no pause is long.
func TestDrippingBodyIsBounded(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}), "-config", "body-timeout=500ms")
	forProtocols(t, func(t *testing.T, protocol string) {
		in, out := io.Pipe()
		t.Cleanup(func() { out.Close() })
		go func() {
			for {
				if _, err := out.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(50 * ms) // the drip is the case
			}
		}()
		res, err := e.client(protocol).Post(e.url("/"), "text/plain", in)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%s", res.Status)
		}
	})
}

// Visitors who read slowly get the whole of what they asked for, although it takes longer than a write may wait.
func TestSlowVisitorsGetTheWholeResponse(t *testing.T) {
	const visitors, size, each = 16, 1 << 20, 25 << 10 // bytes, each 100 ms
	body := edgetest.Pattern(size)
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }), "-config", "unread-timeout=3s")
	forProtocols(t, func(t *testing.T, protocol string) {
		var all sync.WaitGroup
		for range visitors {
			c := e.client(protocol)
			c.Timeout = 0 // reading takes as long as it takes
			all.Go(func() {
				res, err := c.Get(e.url("/"))
				if err != nil {
					t.Error(err)
					return
				}
				defer res.Body.Close()
				n := int64(0)
				for err == nil {
					time.Sleep(100 * ms) // the slow reading is the case
					var more int64
					more, err = io.CopyN(io.Discard, res.Body, each)
					n += more
				}
				if err != io.EOF || n != size {
					t.Errorf("%d bytes of %d: %v", n, size, err)
				}
			})
		}
		all.Wait()
	})
}
