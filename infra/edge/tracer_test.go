package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// While a response is under way, its connection's window is in the file, in bytes on both transports, under the name that
// the samples have too, and without an address.
func TestTrace(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		file := filepath.Join(t.TempDir(), "trace.jsonl")
		finish := make(chan struct{})
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Write(edgetest.Pattern(100_000))
			http.NewResponseController(w).Flush()
			<-finish
		}), "-config", "trace="+file)
		res, err := e.client(protocol).Get(e.url("/"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var last struct {
			ConnectionID          string
			Transport             string
			RTTMs                 float64
			CongestionWindowBytes uint64
			BytesSent             uint64
		}
		edgetest.Eventually(t, "a window is traced", func() bool {
			text, _ := os.ReadFile(file)
			lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
			return json.Unmarshal(lines[len(lines)-1], &last) == nil && last.BytesSent >= 100_000
		})
		close(finish)
		e.end()
		// Ten packets at the least (RFC 6928, RFC 9002), and no more than what slow start makes of 100 kB.
		if w := last.CongestionWindowBytes; w < 10*1200 || w > 10_000_000 || last.RTTMs <= 0 {
			t.Errorf("%+v", last)
		}
		if s := edgetest.Receive(t, "closing sample", e.samples); s.ConnectionID != last.ConnectionID || s.Transport != last.Transport {
			t.Errorf("traced %+v, sampled %+v", last, s)
		}
		if text, _ := os.ReadFile(file); strings.Contains(string(text), "127.0.0.1") {
			t.Error("an address is in the file")
		}
	})
}

func TestTraceIntoNowhere(t *testing.T) {
	var stderr bytes.Buffer
	args := []string{"-upstream", "http://127.0.0.1:9", "-listen", "127.0.0.1:0", "-state", t.TempDir(), "-config", "trace=/nowhere/trace"}
	if code := run(t.Context(), args, &bytes.Buffer{}, &stderr); code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(stderr.String(), "flag -trace: ") {
		t.Errorf("%q", stderr.String())
	}
}
