package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quic-go/quic-go"
)

// A QUIC connection's handshake is in a file of its own once the connection has ended, packet by packet, without an
// address and without a request's headers; a TCP connection leaves none.
func TestQlog(t *testing.T) {
	dir := t.TempDir()
	e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(pattern(10_000)) }), "-qlog", dir)
	for _, protocol := range []string{"HTTP/2", "HTTP/3"} {
		e.get(e.client(protocol), "/")
	}
	e.end()
	files, _ := filepath.Glob(filepath.Join(dir, "*.sqlog"))
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"packet_received", "packet_sent", `"initial"`, `"handshake"`, `"1RTT"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s", want)
		}
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "127.0.0.1") || strings.Contains(line, "headers") {
			t.Errorf("an address, or a request, is in the file: %s", line)
		}
	}
}

// Who asks for a recorder after the connection's end gets none, and no wrapping of none: http3 asks in a goroutine of its own.
func TestQlogAfterTheEnd(t *testing.T) {
	trace := qlogTracer(t.TempDir(), newReporter(io.Discard, "", ""))(t.Context(), false, quic.ConnectionIDFromBytes([]byte{1, 2, 3, 4}))
	trace.AddProducer().Close()
	eventually(t, "the trace ends", func() bool { return trace.AddProducer() == nil })
}

// A connection that cannot be written down is served all the same.
func TestQlogIntoNowhere(t *testing.T) {
	e := startEdgeWith(t, startUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(pattern(10)) }), "-qlog", "/nowhere")
	e.get(e.client("HTTP/3"), "/")
	if got := e.stderr.String(); !strings.Contains(got, "a connection has none") {
		t.Errorf("%q", got)
	}
}
