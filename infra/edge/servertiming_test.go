package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestServerTimingForm(t *testing.T) {
	r := reading{
		rtt: 2026 * us, minRTT: 1850 * us, rttVar: 500 * us, segmentsSent: 6, packetsReceived: 8, packetsLost: 1,
		retransmitted: 2, bytesSent: 3395, bytesReceived: 1234, rawDeliveryRate: 1_500_000, congestionWin: 251, unsentBytes: 7,
	}
	cases := map[transport]string{
		transportTCP: `cfL4;desc="?proto=TCP&rtt=2026&min_rtt=1850&rtt_var=500&sent=6&recv=8&lost=1&retrans=2&sent_bytes=3395` +
			`&recv_bytes=1234&delivery_rate=1500000&cwnd=251&unsent_bytes=7&cid=0123456789abcdef&ts=58&x=0"`,
		transportQUIC: `cfL4;desc="?proto=QUIC&rtt=2026&min_rtt=1850&rtt_var=500&sent=6&recv=8&lost=1&retrans=2&sent_bytes=3395` +
			`&recv_bytes=1234&delivery_rate=1500000&cwnd=251&unsent_bytes=7&cid=0123456789abcdef&ts=58&x=0"`,
	}
	for tr, want := range cases {
		c := fakeConnection("0123456789abcdef", tr, "192.0.2.7:1", r, true)
		if got := serverTiming(c, r, c.began.Add(58*time.Millisecond)); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestServerTimingOnResponses(t *testing.T) {
	form := regexp.MustCompile(`^cfL4;desc="\?([^"]*)"$`)
	for _, on := range []bool{true, false} {
		e := startEdgeWith(t, startUpstream(t, func(http.ResponseWriter, *http.Request) {}), "-server-timing="+strconv.FormatBool(on))
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
