package main

import (
	"io"
	"net/http"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// The upstream's clock does not run while the visitor's body is awaited: slow visitors are no fault of its.
func TestSlowUploadIsNoTimeout(t *testing.T) {
	const timeout = 150 * ms
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	}), "-config", "upstream-timeout="+timeout.String())
	forProtocols(t, func(t *testing.T, protocol string) {
		in, out := io.Pipe()
		go func() {
			io.WriteString(out, "first")
			time.Sleep(3 * timeout) // the visitor is slow: that is the case
			io.WriteString(out, "second")
			out.Close()
		}()
		res, err := e.client(protocol).Post(e.url("/"), "text/plain", in)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Error(res.Status)
		}
	})
}

// A response that has begun may take as long as it takes.
func TestLongResponseIsNoTimeout(t *testing.T) {
	const timeout = 100 * ms
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		http.NewResponseController(w).Flush()
		time.Sleep(3 * timeout) // the stream is slow: that is the case
		io.WriteString(w, "end")
	}), "-config", "upstream-timeout="+timeout.String())
	forProtocols(t, func(t *testing.T, protocol string) {
		if res, body := e.get(e.client(protocol), "/"); res.StatusCode != http.StatusOK || string(body) != "end" {
			t.Errorf("%s %q", res.Status, body)
		}
	})
}
