package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// startEarlyUpstream answers each request as soon as it has its header, with a body of answerBytes, and closes the
// connection. A lingering one reads what still comes, as nginx does (lingering_close); another one closes at once, which
// resets the connection under whoever still writes.
func startEarlyUpstream(t *testing.T, network string, answerBytes int, lingers bool) string {
	t.Helper()
	address, target := "127.0.0.1:0", ""
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "upstream")
		target = "unix:" + address
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	if target == "" {
		target = "http://" + ln.Addr().String()
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReaderSize(c, 4096)); err != nil {
					return
				}
				fmt.Fprintf(c, "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", answerBytes)
				c.Write(edgetest.Pattern(answerBytes))
				if lingers {
					c.(interface{ CloseWrite() error }).CloseWrite()
					c.SetReadDeadline(time.Now().Add(edgetest.Patience))
					io.Copy(io.Discard, c)
				}
			})
		}
	})
	t.Cleanup(func() { ln.Close(); serving.Wait() })
	return target
}

// The upstream answers an upload before it has read all of it: the visitor gets that answer, whole, and the edge goes on.
func TestEarlyAnswer(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, lingers := range []bool{true, false} {
			for _, answerBytes := range []int{0, 10, 200_000} {
				if network == "tcp" && !lingers && answerBytes > 10 {
					continue // the reset throws away what the upstream's own kernel had not sent yet
				}
				t.Run(fmt.Sprintf("%s lingers=%v answer=%d", network, lingers, answerBytes), func(t *testing.T) {
					e := startEdgeWith(t, startEarlyUpstream(t, network, answerBytes, lingers))
					for _, protocol := range protocols {
						for _, length := range []string{"known", "unknown"} {
							for range 10 {
								e.uploadEarly(protocol, length, answerBytes)
							}
						}
					}
					if said := e.stderr.String(); said != "" {
						t.Errorf("the edge complains: %s", said)
					}
				})
			}
		}
	}
}

// uploadEarly sends more than all buffers on the way hold and wants the early answer.
func (e *testEdge) uploadEarly(protocol, length string, answerBytes int) {
	e.t.Helper()
	const upload = 4 << 20
	var in io.Reader = bytes.NewReader(make([]byte, upload))
	if length == "unknown" {
		in = io.MultiReader(in)
	}
	c := e.client(protocol)
	defer c.disconnect()
	res, err := c.Post(e.url("/"), "application/octet-stream", in)
	if err != nil {
		e.t.Errorf("%s, length %s: %v", protocol, length, err)
		return
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge || !bytes.Equal(got, edgetest.Pattern(answerBytes)) {
		e.t.Errorf("%s, length %s: %s, %d bytes, %v", protocol, length, res.Status, len(got), err)
	}
}

// Over HTTP/1.1 the answer says that the connection ends, as nobody can tell the rest of the body from the next request;
// and the edge reads on for a while, so that no reset overtakes the answer.
func TestEarlyAnswerEndsTheConnection(t *testing.T) {
	e := startEdgeWith(t, startEarlyUpstream(t, "tcp", 10, true))
	c := e.rawTLS()
	fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nfirst")
	reader := bufio.NewReader(c)
	res, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil || !res.Close {
		t.Fatalf("close %v, %v", res.Close, err)
	}
	if _, err := reader.ReadByte(); err != io.EOF {
		t.Fatalf("after the answer: %v, want the end", err)
	}
	for range 100 {
		if _, err := io.WriteString(c, strings.Repeat("x", 1000)); err != nil {
			t.Fatalf("the rest of the body met a reset: %v", err)
		}
	}
}

// A body that came whole leaves the connection as it was.
func TestAnswerAfterTheBodyKeepsTheConnection(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	c := e.rawTLS()
	reader := bufio.NewReader(c)
	for range 3 {
		for _, request := range []string{
			"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nfirst",
			"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n",
		} {
			fmt.Fprint(c, request)
			res, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			if res.Close || res.StatusCode != http.StatusOK {
				t.Errorf("%s, close %v", res.Status, res.Close)
			}
		}
	}
}
