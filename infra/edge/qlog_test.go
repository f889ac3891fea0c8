package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A QUIC connection's handshake is in a file of its own once the connection has ended, packet by packet, without an
// address and without a request's headers; a TCP connection leaves none.
func TestQlog(t *testing.T) {
	t.Setenv("QLOGDIR", "") // and so again after the test
	dir := filepath.Join(t.TempDir(), "new")
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(edgetest.Pattern(10_000)) }), "-config", "qlog="+dir)
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
