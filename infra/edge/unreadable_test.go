package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// unreadable are answers that Go's client of HTTP/1.1 refuses.
var unreadable = map[string]string{
	"0x01 in a value":           "HTTP/1.1 200 OK\r\nX-Own: a\x01b\r\nContent-Length: 2\r\n\r\nhi",
	"0x7f in a value":           "HTTP/1.1 200 OK\r\nSet-Cookie: a=\x7f\r\nContent-Length: 2\r\n\r\nhi",
	"0 in a value":              "HTTP/1.1 200 OK\r\nX-Own: a\x00b\r\nContent-Length: 2\r\n\r\nhi",
	"a line without a colon":    "HTTP/1.1 200 OK\r\nX-Own\r\nContent-Length: 2\r\n\r\nhi",
	"a status of letters":       "HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\nhi",
	"a status of four digits":   "HTTP/1.1 1000 OK\r\nContent-Length: 2\r\n\r\nhi",
	"no HTTP":                   "hello\r\n\r\n",
	"two lengths":               "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
	"an unknown transfer":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi",
	"half a header and the end": "HTTP/1.1 200 OK\r\nX-Own: a",
}

// startRawAnswers answers the first request of each connection well, and those for / after it with what answer says. Requests have no
// body. asked counts those for /.
func startRawAnswers(t *testing.T, answer *atomic.Value) (url string, asked *atomic.Int64) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = &atomic.Int64{}
	var serving sync.WaitGroup
	serve := func(c net.Conn) {
		defer c.Close()
		for in := bufio.NewReader(c); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if r.URL.Path != "/" {
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				continue
			}
			asked.Add(1)
			_, _ = io.WriteString(c, answer.Load().(string))
			return
		}
	}
	serving.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() { ln.Close(); serving.Wait() })
	return "http://" + ln.Addr().String(), asked
}

// An answer that cannot be read is an answer: whoever gave it has acted. Nobody is asked a second time, whatever the method, over a
// new connection and over one of the pool, through the worker and while it is gone.
func TestUnreadableAnswerIsAskedForOnce(t *testing.T) {
	var answer atomic.Value
	worker, askedWorker := startRawAnswers(t, &answer)
	direct, askedDirect := startRawAnswers(t, &answer)
	origin, askedOrigin := startRawAnswers(t, &answer)
	through := startEdgeWith(t, worker, "-samples", worker, "-origin", origin)
	gone := startEdgeWith(t, "http://"+edgetest.RefusingAddress(t), "-samples", "http://"+edgetest.RefusingAddress(t), "-origin", direct)
	forProtocols(t, func(t *testing.T, protocol string) {
		for name, text := range unreadable {
			answer.Store(text)
			for way, e := range map[string]*testEdge{"through the worker": through, "worker gone": gone} {
				c := e.client(protocol)
				for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS"} {
					for _, pooled := range []bool{true, false} {
						if pooled {
							e.text(c, method, "/well", "")
						}
						askedWorker.Store(0)
						askedDirect.Store(0)
						askedOrigin.Store(0)
						status, text := e.text(c, method, "/", "")
						if n := askedWorker.Load() + askedDirect.Load() + askedOrigin.Load(); status != http.StatusBadGateway || n != 1 {
							t.Errorf("%s, %s, %s, pooled %v: %d %s; asked %d times", name, way, method, pooled, status, text, n)
						}
					}
				}
				if strings.Contains(e.stderr.String(), "Cookie") {
					t.Errorf("the log holds a header: %s", e.stderr)
				}
			}
		}
	})
}
