package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// startExpectOrigin answers each request with the first of what it says once it has the header, and then, if there is more to say,
// reads the body and says the rest. got counts the bytes of bodies.
func startExpectOrigin(t *testing.T, after time.Duration, says ...string) (url string, got *atomic.Int64) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got = &atomic.Int64{}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				if expect := r.Header.Get("Expect"); expect != "100-continue" {
					t.Errorf("the origin was told %q", expect)
				}
				time.Sleep(after) // a slow origin is the case
				_, _ = io.WriteString(c, says[0])
				n, _ := io.Copy(io.Discard, r.Body)
				got.Add(n)
				_, _ = io.WriteString(c, strings.Join(says[1:], ""))
			})
		}
	})
	t.Cleanup(func() { ln.Close(); serving.Wait() })
	return "http://" + ln.Addr().String(), got
}

// awaitedBody is a body that is there once its client has had 100 (Continue).
type awaitedBody struct {
	io.Reader
	continued, left <-chan struct{}
}

func (b *awaitedBody) Read(p []byte) (int, error) {
	select {
	case <-b.continued:
		return b.Reader.Read(p)
	case <-b.left:
		return 0, io.ErrClosedPipe
	}
}

const expectBody = 3_000_000

// expect posts a body that waits for 100 (Continue), for a second client too that waits for patience only; 0: for ever. It says how
// often 100 came, and what came then.
func (e *testEdge) expect(protocol string, patience time.Duration) (hundreds int, answer string) {
	continued, left := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(continued) })
	if patience > 0 {
		time.AfterFunc(patience, begin)
	}
	body := &awaitedBody{io.LimitReader(zeros{}, expectBody), continued, left}
	req, err := http.NewRequest(http.MethodPost, e.url("/"), body)
	if err != nil {
		e.t.Fatal(err)
	}
	req.ContentLength = expectBody
	req.Header.Set("Expect", "100-continue")
	var count atomic.Int64
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		Got100Continue: func() { count.Add(1); begin() },
	}))
	c := e.client(protocol)
	defer c.disconnect()
	defer close(left)
	res, err := c.Do(req)
	if err != nil {
		return int(count.Load()), err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return int(count.Load()), err.Error()
	}
	return int(count.Load()), fmt.Sprint(res.StatusCode, " ", string(text))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// The origin decides whether a visitor who waits for 100 (Continue) sends the body (RFC 9110, section 10.1.1), with the worker there and
// without it.
func TestExpectation(t *testing.T) {
	const refusal = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\n"
	for _, tc := range []struct {
		name     string
		after    time.Duration
		says     []string
		hundreds int
		answer   string
		bytes    int64
	}{
		{"refused", 0, []string{refusal + "\r\nnone"}, 0, "401 none", 0},
		{"refused, and closed", 0, []string{refusal + "Connection: close\r\n\r\nnone"}, 0, "401 none", 0},
		{"refused without a body", 0, []string{"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"}, 0, "417 ", 0},
		{"refused late", 1500 * time.Millisecond, []string{refusal + "\r\nnone"}, 0, "401 none", 0},
		{"wanted", 0, []string{"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone"}, 1, "200 done", expectBody},
		{"wanted after hints", 0, []string{"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone"}, 1, "200 done", expectBody},
	} {
		for _, worker := range []string{"there", "gone"} {
			t.Run(tc.name+", worker "+worker, func(t *testing.T) {
				url, got := startExpectOrigin(t, tc.after, tc.says...)
				w := startTestWorker(t)
				if worker == "gone" {
					w.end()
				}
				e := startEdgeWith(t, w.url, "-samples", w.url, "-origin", url)
				for _, protocol := range protocols {
					got.Store(0)
					hundreds, answer := e.expect(protocol, 0)
					if hundreds != tc.hundreds || answer != tc.answer || got.Load() != tc.bytes {
						t.Errorf("%s: %d times 100, %q, %d bytes at the origin", protocol, hundreds, answer, got.Load())
					}
				}
			})
		}
	}
}

// An origin that does not know the expectation gets the body in the end, from visitors who wait and from those who do not.
func TestExpectationThatTheOriginIgnores(t *testing.T) {
	url, _ := startExpectOrigin(t, 0, "", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone")
	e := startEdgeWith(t, url)
	var all sync.WaitGroup
	for _, protocol := range protocols {
		for _, patience := range []time.Duration{0, 100 * ms} {
			if protocol == "HTTP/3" && patience == 0 {
				continue // its server says nothing by itself
			}
			all.Go(func() {
				if _, answer := e.expect(protocol, patience); answer != "200 done" {
					t.Errorf("%s, patience %s: %s", protocol, patience, answer)
				}
			})
		}
	}
	all.Wait()
}

// What asks for nothing is told nothing: the origin's answer alone comes.
func TestNoExpectation(t *testing.T) {
	asked := make(chan string, 1)
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- r.Header.Get("Expect")
	}))
	for _, head := range []string{
		"POST / HTTP/1.0\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody",
		"GET / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n",
	} {
		c := e.rawTLS()
		fmt.Fprint(c, head)
		line, err := bufio.NewReader(c).ReadString('\n')
		if got := edgetest.Receive(t, "request", asked); got != "" || err != nil || !strings.Contains(line, " 200 ") {
			t.Errorf("%q: the upstream was told %q, %q %v", head, got, line, err)
		}
	}
}
