package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A connection that rests is closed, and counts no more. One whose response lasts is not.
func TestRestingConnectionIsClosed(t *testing.T) {
	upstream := edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			fmt.Fprint(w, "begun, ")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(2500 * ms) // longer than a connection may rest, and than two looks are apart
		}
		fmt.Fprint(w, "done")
	})
	e := startEdgeWith(t, upstream, "-config", "rest-timeout=500ms")
	forProtocols(t, func(t *testing.T, protocol string) {
		if _, body := e.get(e.client(protocol), "/slow"); string(body) != "begun, done" {
			t.Errorf("%q", body)
		}
		for {
			s := edgetest.Receive(t, "closing sample", e.samples)
			if s.Closing {
				break
			}
		}
	})
}

// An HTTP/2 client is told first, is served while its request is on its way, and finds the connection closed at last.
func TestRestingClientIsTold(t *testing.T) {
	upstream := edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") })
	e := startEdgeWith(t, upstream, "-config", "rest-timeout=500ms")
	config := e.tlsConfig()
	config.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", e.addresses[0], config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(edgetest.Patience))
	framer := http2.NewFramer(conn, conn)
	_, err = io.WriteString(conn, http2.ClientPreface)
	if err = errors.Join(err, framer.WriteSettings()); err != nil {
		t.Fatal(err)
	}
	ask := func(stream uint32) {
		var block bytes.Buffer
		fields := hpack.NewEncoder(&block)
		for _, f := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", e.addresses[0]}, {":path", "/"}} {
			_ = fields.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
		}
		if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true}); err != nil {
			t.Fatal(err)
		}
	}
	ask(1)
	var said []string
	for asked := false; ; {
		frame, err := framer.ReadFrame()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("the connection ended with %v", err)
			}
			break
		}
		switch f := frame.(type) {
		case *http2.GoAwayFrame:
			said = append(said, fmt.Sprint("GOAWAY ", f.LastStreamID, " ", f.ErrCode))
			said = slices.Compact(said) // it comes again
			if !asked {
				asked = true
				ask(3)
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				said = append(said, fmt.Sprint("response ", f.StreamID))
			}
		}
	}
	want := "[response 1 GOAWAY 2147483647 NO_ERROR response 3 GOAWAY 2147483647 NO_ERROR]"
	if got := fmt.Sprint(said); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Clients who leave, with a request under way or before their first one, leave nothing behind: an attacker can do so again and again.
func TestLeaversLeaveNoMemory(t *testing.T) {
	waits := make(chan struct{}, 1)
	upstream := edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/waits" {
			waits <- struct{}{}
			<-r.Context().Done()
		}
	})
	e := startEdgeWith(t, upstream)
	forProtocols(t, func(t *testing.T, protocol string) {
		leavesNoMemory(t, func(t *testing.T) {
			its := *e
			its.t = t
			c := its.client(protocol)
			done := make(chan struct{})
			go func() {
				defer close(done)
				if res, err := c.Get(its.url("/waits")); err == nil {
					res.Body.Close()
				}
			}()
			edgetest.Receive(t, "request upstream", waits)
			c.leave()
			<-done
			for s := (pathSampleJSON{}); !s.Closing; s = edgetest.Receive(t, "closing sample", e.samples) {
			}
		})
	})
	t.Run("HTTP/3, no request", func(t *testing.T) {
		leavesNoMemory(t, func(t *testing.T) {
			conn, err := quic.DialAddr(t.Context(), e.addresses[0], http3Config(e), nil)
			if err != nil {
				t.Fatal(err)
			}
			// Once its settings are here, the server has the connection.
			if _, err := conn.AcceptUniStream(t.Context()); err != nil {
				t.Fatal(err)
			}
			_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
		})
	})
}

// leavesNoMemory has many clients leave, each in a test of its own, and fails the test if that takes memory.
func leavesNoMemory(t *testing.T, leave func(t *testing.T)) {
	t.Helper()
	const first, leavers, bytesEach = 20, 300, 4 << 10
	var before, after runtime.MemStats
	for i := range first + leavers {
		if i == first {
			collect(&before)
		}
		t.Run("client", leave)
	}
	edgetest.Eventually(t, "the memory is free again", func() bool {
		collect(&after)
		return after.HeapAlloc < before.HeapAlloc+leavers*bytesEach
	})
}

// collect reads the memory in use when all that can be freed is free.
func collect(stats *runtime.MemStats) {
	for range 3 { // a finalizer keeps an object for one more
		runtime.GC()
	}
	runtime.ReadMemStats(stats)
}
