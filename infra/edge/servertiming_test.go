package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A page reads the counters of its connection from a late response: they are those of that moment, and not of the request's.
func TestServerTimingIsFresh(t *testing.T) {
	const bytes = 300_000
	form := regexp.MustCompile(`&sent=(\d+)&.*&sent_bytes=(\d+)&.*&cid=(\w+)`)
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, bytes)) }))
	forProtocols(t, func(t *testing.T, protocol string) {
		c := e.client(protocol)
		var sent, sentBytes int
		var cid string
		for i := range 3 { // on the same connection
			res, _ := e.get(c, "/")
			found := form.FindStringSubmatch(res.Header.Get("Server-Timing"))
			if found == nil {
				t.Fatalf("%q", res.Header["Server-Timing"])
			}
			nowSent, _ := strconv.Atoi(found[1])
			nowBytes, _ := strconv.Atoi(found[2])
			if i > 0 && (nowBytes < sentBytes+bytes || nowSent <= sent || found[3] != cid) {
				t.Errorf("%d packets and %d bytes, after a response of %d bytes %d and %d (connections %s, %s)", sent, sentBytes, bytes, nowSent, nowBytes, cid, found[3])
			}
			sent, sentBytes, cid = nowSent, nowBytes, found[3]
		}
	})
}

func TestServerTimingOnResponses(t *testing.T) {
	form := regexp.MustCompile(`^cfL4;desc="\?([^"]*)"$`)
	for _, on := range []bool{true, false} {
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {}), "-server-timing="+strconv.FormatBool(on))
		forProtocols(t, func(t *testing.T, protocol string) {
			c := e.client(protocol)
			cid := ""
			for range 2 { // the same connection
				res, _ := e.get(c, "/")
				values := res.Header["Server-Timing"]
				if !on {
					if len(values) > 0 {
						t.Errorf("off, and yet: %q", values)
					}
					continue
				}
				if len(values) != 1 || !form.MatchString(values[0]) {
					t.Fatalf("%q", values)
				}
				q, err := url.ParseQuery(form.FindStringSubmatch(values[0])[1])
				if err != nil {
					t.Fatal(err)
				}
				want := map[bool]string{true: "QUIC", false: "TCP"}[protocol == "HTTP/3"]
				rtt, _ := strconv.Atoi(q.Get("rtt"))
				minRTT, _ := strconv.Atoi(q.Get("min_rtt"))
				cwnd, _ := strconv.Atoi(q.Get("cwnd"))
				sent, _ := strconv.Atoi(q.Get("sent_bytes"))
				if q.Get("proto") != want || rtt <= 0 || minRTT <= 0 || minRTT > rtt*10 || cwnd <= 0 || sent <= 0 {
					t.Errorf("%s: %s", protocol, values[0])
				}
				if cid == "" {
					cid = q.Get("cid")
				}
				if len(cid) != 16 || cid != q.Get("cid") {
					t.Errorf("connection ids %q and %q", cid, q.Get("cid"))
				}
				if strings.Contains(values[0], "127.0.0.1") {
					t.Error("an address has no place in it")
				}
			}
		})
	}
}
