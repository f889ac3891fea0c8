package main

import (
	"bytes"
	"fmt"
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
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 300_000)) }), "-metrics", "http://"+address, "-listen", reno)
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
	wanted := map[string]float64{
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
		`adaptive_h3_edge_tcp_listeners{congestion="reno"}`:    1,
		`adaptive_h3_edge_open_connections`:                    0,
	}
	// A connection's end changes one figure after another, and a scrape reads them at different moments: all are waited for.
	var text string
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * ms) {
		text = scrape(t, address)
		var wrong []string
		for line, want := range wanted {
			if got := figure(text, line); got != want {
				wrong = append(wrong, fmt.Sprintf("%s is %v, want %v", line, got, want))
			}
		}
		if wrong == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s\nin\n%s", strings.Join(wrong, "\n"), text)
		}
	}
	if strings.Contains(text, "127.0.0.1") {
		t.Error("an address has no place in it")
	}
}

// scrape reads what the edge tells Prometheus.
func scrape(t testing.TB, address string) string {
	t.Helper()
	res, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
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
