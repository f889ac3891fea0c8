package upstream

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A connection rests for less long than the server says: a request that cannot be sent again would meet its end.
func TestPoolRestsLessThanTheServer(t *testing.T) {
	for _, tc := range []struct {
		says  string
		rests time.Duration // after which the connection still serves
		ends  time.Duration // after which another one is opened
	}{
		{"", 3900 * time.Millisecond, 4100 * time.Millisecond},
		{"timeout=5, max=100", 3900 * time.Millisecond, 4100 * time.Millisecond},
		{"timeout=3600", 3900 * time.Millisecond, 4100 * time.Millisecond},
		{"max=7, Timeout=3", 0, 0},
		{"timeout=04", 0, 0},
		{"timeout=40, max=4", 3900 * time.Millisecond, 4100 * time.Millisecond},
		{"timeout=1", 0, 0},
		{"timeout=0", 0, 0},
		{"timeout=soon", 3900 * time.Millisecond, 4100 * time.Millisecond},
		{"timeout=-1", 3900 * time.Millisecond, 4100 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			dialed := 0
			pool := NewPool(func(context.Context, string, string) (net.Conn, error) {
				dialed++
				ours, theirs := net.Pipe()
				go func() {
					defer theirs.Close()
					requests := bufio.NewReader(theirs)
					for {
						r, err := http.ReadRequest(requests)
						if err != nil {
							return
						}
						_, _ = io.Copy(io.Discard, r.Body)
						fmt.Fprintf(theirs, "HTTP/1.1 200 OK\r\nKeep-Alive: %s\r\nContent-Length: 2\r\n\r\nok", tc.says)
					}
				}()
				return ours, nil
			}, nil)
			defer pool.CloseIdleConnections()
			post := func() {
				req, err := http.NewRequest(http.MethodPost, "http://origin.test/", strings.NewReader("body"))
				if err != nil {
					t.Fatal(err)
				}
				res, err := pool.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if text, err := io.ReadAll(res.Body); err != nil || string(text) != "ok" {
					t.Fatalf("%s: %q, %v", tc.says, text, err)
				}
				res.Body.Close()
				synctest.Wait() // until the pool has the connection back
			}
			post()
			post()
			before := dialed
			time.Sleep(tc.rests) // fake time
			post()
			if opened := dialed - before; (opened == 0) != (tc.rests > 0) {
				t.Errorf("%q: after %s another connection: %d", tc.says, tc.rests, opened)
			}
			before = dialed
			time.Sleep(tc.ends) // fake time
			post()
			if dialed == before {
				t.Errorf("%q: after %s the same connection", tc.says, tc.ends)
			}
		})
	}
}
