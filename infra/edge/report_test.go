package main

import (
	"strings"
	"testing"
	"time"
)

func TestReporter(t *testing.T) {
	var out lockedBuffer
	r := newReporter(&out, "127.0.0.1:8787")
	now := time.UnixMilli(0)
	r.now = func() time.Time { return now }

	r.report("upstream", "dial tcp 127.0.0.1:8787: connection refused")
	r.report("upstream", "again")
	r.report("upstream", "again")
	r.logger("http").Print("http: panic serving 203.0.113.9:4711: oh\ngoroutine 1 [running]:\nmain.main()")
	r.logger("proxy").Print("http: TLS handshake error from 203.0.113.9:4711: EOF")
	r.logger("proxy").Print("httputil: ReverseProxy read error during body copy: context canceled")
	now = now.Add(reportInterval)
	r.report("upstream", "read tcp [2001:db8::7]:4711->127.0.0.1:8787: reset")
	r.report("http", "from [fe80::1%eth0]:1")

	want := strings.Join([]string{
		"edge: upstream: dial tcp 127.0.0.1:8787: connection refused",
		"edge: http: http: panic serving (address): oh",
		"edge: upstream: read tcp (address)->127.0.0.1:8787: reset (and 2 more of this kind)",
		"edge: http: from (address)",
	}, "\n") + "\n"
	if out.String() != want {
		t.Errorf("\n got %s\nwant %s", out.String(), want)
	}
}
