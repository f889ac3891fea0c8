package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"runtime"
	"syscall"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/listen"
)

// Requests under way finish, whole; new ones are not taken; the last samples arrive; the exit code is 0.
func TestGracefulShutdown(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		started, finish := make(chan struct{}), make(chan struct{})
		body := edgetest.Pattern(300_000)
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Write(body[:1000])
			http.NewResponseController(w).Flush()
			close(started)
			<-finish
			w.Write(body[1000:])
		}))
		res, err := e.client(protocol).Get(e.url("/"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		edgetest.Receive(t, "start", started)
		e.stop()
		edgetest.Eventually(t, "the port is free again", func() bool {
			spec, err := listen.ParseSpec(e.addresses[0] + ",http3=off")
			if err != nil {
				t.Fatal(err)
			}
			s, err := listen.Open(spec)
			if err == nil {
				listen.Close(s)
			}
			return err == nil
		})
		close(finish)
		got, err := io.ReadAll(res.Body)
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		if code := e.end(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
		// This side closes, so over TCP what the kernel still held is not in its count: Close of package listen says why.
		if s := edgetest.Receive(t, "closing sample", e.samples); !s.Closing || s.BytesSent < 1000 {
			t.Errorf("%+v", s)
		}
	})
}

// Over HTTP/3 what was lost of a response has still to be sent again when the last handler has returned.
func TestShutdownDeliversWhatIsUnderWay(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	body := edgetest.Pattern(60_000)
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		http.NewResponseController(w).Flush()
		close(started)
		<-finish
		w.Write(body)
	}))
	relay := startRelay(t, e.addresses[0], &udpRelay{delay: 20 * ms, loseEvery: 10})
	res, err := e.client("HTTP/3", relay.address).Get(e.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	edgetest.Receive(t, "start", started)
	e.stop()
	close(finish)
	if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, body) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

// Clients at rest and websockets do not hold the end up.
func TestShutdownWithIdleClients(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			echoUpgrade(w, r)
		}
	}), "-shutdown-timeout", "1h")
	for _, p := range protocols {
		e.get(e.client(p), "/")
	}
	ws := e.openWebsocket("/")
	if code := e.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if _, err := io.ReadAll(ws); errors.Is(err, syscall.ETIMEDOUT) {
		t.Error(err)
	}
	for range 4 {
		edgetest.Receive(t, "closing sample", e.samples)
	}
}

// A request that never ends is cut when the time is over.
func TestShutdownTimeout(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		started := make(chan struct{})
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).Flush()
			close(started)
			<-r.Context().Done()
		}), "-shutdown-timeout", "100ms")
		res, err := e.client(protocol).Get(e.url("/"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		edgetest.Receive(t, "start", started)
		if code := e.end(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
		if _, err := io.ReadAll(res.Body); err == nil {
			t.Error("what was cut passed for whole")
		}
	})
}

func TestNoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("edge", func(t *testing.T) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, image))
		for _, p := range protocols {
			c := e.client(p)
			for range 5 {
				e.get(c, "/")
			}
			c.disconnect()
		}
		e.end()
	})
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	edgetest.Eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before })
}

// A websocket that speaks has the time that requests have.
func TestShutdownLetsWebsocketsFinish(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, echoUpgrade))
	ws := e.openWebsocket("/")
	for i := range 20 {
		if i == 2 {
			e.stop()
		}
		word := []byte("word")
		if _, err := ws.Write(word); err != nil {
			t.Fatalf("word %d: %v", i, err)
		}
		if _, err := io.ReadFull(ws, word); err != nil {
			t.Fatalf("word %d: %v", i, err)
		}
		time.Sleep(50 * ms)
	}
	ws.Close()
	if code := e.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
