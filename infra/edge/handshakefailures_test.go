package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// Each TLS handshake that fails counts once, by its cause; one that succeeds counts nowhere.
func TestFailedHandshakesAreCounted(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	ln.Close()
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {}), "-metrics", "http://"+address)
	for cause, fail := range map[string]func(net.Conn){
		"left":    func(c net.Conn) {},
		"not-tls": func(c net.Conn) { fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); io.Copy(io.Discard, c) },
		"refused": func(c net.Conn) { tls.Client(c, &tls.Config{ServerName: "localhost"}).Handshake() },
		"other": func(c net.Conn) {
			tls.Client(c, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}).Handshake()
		},
	} {
		for range 2 {
			c, err := net.Dial("tcp", e.addresses[0])
			if err != nil {
				t.Fatal(err)
			}
			fail(c)
			c.Close()
		}
		edgetest.Eventually(t, "two that count as "+cause, func() bool { return e.handshakesFailed(address)[cause] == "2" })
	}
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
		c := e.client(protocol)
		e.get(c, "/")
		c.disconnect()
	}
	if got := e.handshakesFailed(address); got["left"] != "2" || got["other"] != "2" || got["timeout"] != "0" || len(got) != 5 {
		t.Errorf("in the end %v", got)
	}
}

// handshakesFailed reads the counters by their cause.
func (e *testEdge) handshakesFailed(address string) map[string]string {
	e.t.Helper()
	counts := map[string]string{}
	for line := range strings.Lines(scrape(e.t, address)) {
		if rest, found := strings.CutPrefix(line, `adaptive_h3_edge_tls_handshakes_failed_total{cause="`); found {
			cause, count, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
			counts[cause] = count
		}
	}
	return counts
}
