package errorlog

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestLog(t *testing.T) {
	var out bytes.Buffer
	l := New(&out, "127.0.0.1:8787")
	now := time.UnixMilli(0)
	l.now = func() time.Time { return now }

	l.Report("upstream", "dial tcp 127.0.0.1:8787: connection refused")
	l.Report("upstream", "again")
	l.Report("upstream", "again")
	l.Logger("http").Print("http: something else")
	l.Logger("http").Print("http: panic serving 203.0.113.9:4711: oh\ngoroutine 1 [running]:\nmain.main()")
	l.Logger("proxy").Print("http: TLS handshake error from 203.0.113.9:4711: EOF")
	l.Logger("proxy").Print("httputil: ReverseProxy read error during body copy: context canceled")
	l.Logger("preface").Print("http2: server: error reading preface from client 203.0.113.9:4711: read tcp 192.0.2.1:443->203.0.113.9:4711: read: connection reset by peer")
	l.Logger("preface").Print("http2: server: error reading preface from client 203.0.113.9:4711: bogus greeting \"x\"")
	now = now.Add(interval)
	l.Report("upstream", "read tcp [2001:db8::7]:4711->127.0.0.1:8787: reset")
	l.Report("http", "from [fe80::1%eth0]:1")

	want := strings.Join([]string{
		"edge: upstream: dial tcp 127.0.0.1:8787: connection refused",
		"edge: http: http: something else",
		"edge: panic: http: panic serving (address): oh",
		`edge: preface: http2: server: error reading preface from client (address): bogus greeting "x"`,
		"edge: upstream: read tcp (address)->127.0.0.1:8787: reset (and 2 more of this kind)",
		"edge: http: from (address)",
	}, "\n") + "\n"
	if out.String() != want {
		t.Errorf("\n got %s\nwant %s", out.String(), want)
	}
}
