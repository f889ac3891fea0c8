package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// What was done is told on a listener of its own, and what visitors ask for leads nowhere near it.
func TestMetrics(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	_ = ln.Close()
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 300_000)) }), "-metrics", "http://"+address)
	forProtocols(t, func(t *testing.T, protocol string) {
		c := e.client(protocol)
		for range 2 {
			if res, _ := e.get(c, "/"); res.StatusCode != http.StatusOK {
				t.Fatal(res.Status)
			}
		}
		c.CloseIdleConnections()
	})
	figure := func(text, line string) float64 {
		found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(line) + ` (\S+)$`).FindStringSubmatch(text)
		if found == nil {
			return -1
		}
		value, _ := strconv.ParseFloat(found[1], 64)
		return value
	}
	var text string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		res, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		text = string(body)
		if figure(text, "adaptive_h3_edge_open_connections") == 0 {
			break
		}
	}
	for line, want := range map[string]float64{
		`adaptive_h3_edge_requests_total{protocol="h1"}`:       2,
		`adaptive_h3_edge_requests_total{protocol="h2"}`:       2,
		`adaptive_h3_edge_requests_total{protocol="h3"}`:       2,
		`adaptive_h3_edge_connections_total{transport="tcp"}`:  2,
		`adaptive_h3_edge_connections_total{transport="quic"}`: 1,
		`adaptive_h3_edge_rtt_seconds_count{transport="quic"}`: 1,
		`adaptive_h3_edge_loss_ratio_count{transport="quic"}`:  1,
		`adaptive_h3_edge_requests_refused_total`:              0,
		`adaptive_h3_edge_requests_past_worker_total`:          0,
		`adaptive_h3_edge_udp_sockets_reopened_total`:          0,
	} {
		if got := figure(text, line); got != want {
			t.Errorf("%s is %v, want %v", line, got, want)
		}
	}
	if strings.Contains(text, "127.0.0.1") {
		t.Error("an address has no place in it")
	}
}

func TestMetricsWithoutAPlace(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	args := []string{"-upstream", "http://127.0.0.1:1", "-listen", "127.0.0.1:0", "-state", t.TempDir(), "-metrics", "http://" + ln.Addr().String()}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), args, &stdout, &stderr); code != exitFailure || !strings.Contains(stderr.String(), "flag -metrics") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}
