package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// The upstream closes a connection of the pool just as a request goes out on it: the request is sent again, over HTTP/3
// too, where it has to be known first that it has no body.
func TestClosedConnectionOfThePool(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		var requests atomic.Int64
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {
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
		url := edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) { <-end })
		t.Cleanup(func() { close(end) }) // before the server is closed, which waits for its handlers
		return url
	}
	refusing := func(t *testing.T) string { return "http://" + edgetest.RefusingAddress(t) }
	hangup := func(t *testing.T) string {
		return edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
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
		// More than all buffers on the way hold: it can only end by the clock of boundedBody.
		{"not reading a body", stalling, 32 << 20, http.StatusGatewayTimeout},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			forProtocols(t, func(t *testing.T, protocol string) {
				e := startEdgeWith(t, tc.upstream(t), "-config", "upstream-timeout=200ms")
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
					e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
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
				e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
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
					edgetest.Receive(t, "request", started)
					leave()
					edgetest.Receive(t, "end of the client's request", failed)
				} else {
					res, err := c.Do(req)
					if err != nil {
						t.Fatal(err)
					}
					io.ReadFull(res.Body, make([]byte, 200_000))
					leave()
					res.Body.Close()
				}
				if err := edgetest.Receive(t, "end of the upstream's request", cancelled); err == nil {
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

// An upload that the upstream answers early must not hang.
func TestEarlyAnswerToUpload(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
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
