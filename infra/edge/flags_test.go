package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/quicserver"
	"adaptive-h3/infra/edge/internal/upstream"
)

func TestOptionDefaults(t *testing.T) {
	o, err := parseOptions([]string{"-upstream", "http://127.0.0.1:8787"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.listen) != 1 || o.listen[0].Text != "localhost:8443" || !o.listen[0].HTTP3 || len(o.listen[0].Hosts) != 2 ||
		o.proxy.Upstream != (upstream.Target{Network: "tcp", Address: "127.0.0.1:8787"}) || o.samples != (upstream.Target{}) || o.certificate.StateDir != ".adaptive-h3" ||
		o.proxy.ServerTiming || o.proxy.AsCloudflare || o.proxy.UpstreamTimeout != time.Minute || o.proxy.BodyTimeout != time.Minute || o.shutdownTimeout != 10*time.Second ||
		o.requests.Total != 0 || o.requests.PerClient != 0 || o.maxStreams != 100 ||
		o.handshakes != (quicserver.HandshakeLimits{Unproven: 256, Total: 1024}) ||
		o.proxy.UnreadTimeout != time.Minute || o.proxy.RestTimeout != 2*time.Minute || o.requests.Most < 64 || o.proxy.SlowestRate != 1000 {
		t.Errorf("%+v", o)
	}
}

func TestOptionsAsGiven(t *testing.T) {
	o, err := parseOptions([]string{
		"-listen", "127.0.0.1:1,congestion=cubic,http3=off", "-listen", "[::1]:2", "-listen", ":3,http3=on",
		"-upstream", "unix:/run/workerd.sock", "-samples", "http://[::1]:99/", "-cert", "c", "-key", "k", "-state", "s",
		"-host", "a.example", "-host", "192.0.2.1", "-host", "*.b.example",
		"-server-timing=true", "-config", "as-cloudflare=true", "-config", "upstream-timeout=1m30s", "-shutdown-timeout=1ms",
		"-max-requests", "10", "-config", "max-requests-client=4", "-config", "max-streams=3",
		"-config", "retry=true", "-config", "retry-above=6", "-config", "max-handshakes=7",
		"-config", "unread-timeout=8s", "-config", "slowest-rate=9",
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	l := o.listen
	if len(l) != 3 || l[0].Congestion != "cubic" || l[0].HTTP3 || l[0].Port != 1 || l[1].Hosts[0].String() != "::1" || !l[1].HTTP3 ||
		l[2].Hosts[0].String() != "::" || o.proxy.Upstream != (upstream.Target{Network: "unix", Address: "/run/workerd.sock"}) || o.samples != (upstream.Target{Network: "tcp", Address: "[::1]:99"}) ||
		!slices.Equal(o.certificate.CertFiles, []string{"c"}) || !slices.Equal(o.certificate.KeyFiles, []string{"k"}) || o.certificate.StateDir != "s" || strings.Join(o.certificate.Hosts, " ") != "a.example 192.0.2.1 *.b.example" ||
		!o.proxy.ServerTiming || !o.proxy.AsCloudflare || o.proxy.UpstreamTimeout != 90*time.Second || o.shutdownTimeout != ms ||
		o.requests.Total != 10 || o.requests.PerClient != 4 || o.maxStreams != 3 ||
		o.handshakes != (quicserver.HandshakeLimits{Unproven: 6, Total: 7, Always: true}) ||
		o.proxy.UnreadTimeout != 8*time.Second || o.proxy.SlowestRate != 9 {
		t.Errorf("%+v", o)
	}
}

// A file has a line for each bound, blank lines and comments.
func TestConfigFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bounds")
	if err := os.WriteFile(file, []byte("# for a small machine\nmax-streams=3\n\n  unread-timeout=8s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parseOptions([]string{"-upstream", "unix:/a", "-config", file, "-config", "max-streams=4"}, io.Discard)
	if err != nil || o.maxStreams != 4 || o.proxy.UnreadTimeout != 8*time.Second {
		t.Errorf("%d streams, %v: %v", o.maxStreams, o.proxy.UnreadTimeout, err)
	}
}

// The origin is asked when the worker's heartbeat fails, and the heartbeat is asked of the samples' listener.
func TestOriginWantsSamples(t *testing.T) {
	if _, err := parseOptions([]string{"-upstream", "unix:/a", "-origin", "http://a"}, io.Discard); err == nil || !strings.Contains(err.Error(), "-samples") {
		t.Errorf("without -samples: %v", err)
	}
}

// Every bad value: one sentence that names the flag and what is allowed; exit code 2.
func TestBadFlags(t *testing.T) {
	cases := []struct {
		args string // after a good -upstream
		says []string
	}{
		{"-listen here", []string{"-listen", `"here"`, "IP:PORT, localhost:PORT or :PORT"}},
		{"-listen example.com:443", []string{"-listen", `"example.com"`, "IP address, localhost"}},
		{"-listen 127.0.0.1:70000", []string{"-listen", `"70000"`, "0 to 65535"}},
		{"-listen 127.0.0.1:http", []string{"-listen", `"http"`, "0 to 65535"}},
		{"-listen 127.0.0.1:0,http3=no", []string{"-listen", `"http3=no"`, "http3=off"}},
		{"-listen 127.0.0.1:0,congestion=", []string{"-listen", `"congestion="`, "congestion=NAME"}},
		{"-listen 127.0.0.1:0,speed=9", []string{"-listen", `"speed=9"`, "congestion=NAME"}},
		{"-max-requests 0", []string{"-max-requests", "above 0"}},
		{"-config max-requests-client=many", []string{"max-requests-client", "above 0"}},
		{"-config max-streams=-1", []string{"max-streams", "above 0"}},
		{"-config retry-above=0", []string{"retry-above", "above 0"}},
		{"-config max-handshakes=few", []string{"max-handshakes", "above 0"}},
		{"-config retry-above=9 -config max-handshakes=8", []string{"retry-above", "max-handshakes", "8"}},
		{"-config unread-timeout=0s", []string{"unread-timeout", "above 0"}},
		{"-config slowest-rate=1k", []string{"slowest-rate", "above 0"}},
		{"-config qlog=/dev/null/folder", []string{"-config", "qlog", "not a directory"}},
		{"-config more=1", []string{"-config", "no such name", "more"}},
		{"-config /nowhere", []string{"-config", "/nowhere"}},
		{"-upstream https://127.0.0.1:1", []string{"-upstream", "http://HOST:PORT", "unix:/path"}},
		{"-upstream http://127.0.0.1", []string{"-upstream", "http://HOST:PORT"}},
		{"-upstream http://127.0.0.1:1/base", []string{"-upstream", "without a path"}},
		{"-upstream unix:", []string{"-upstream", "unix:/path"}},
		{"-samples 127.0.0.1:1", []string{"-samples", "http://HOST:PORT"}},
		{"-cert x", []string{"-cert", "-key", "both"}},
		{"-key x", []string{"-cert", "-key", "both"}},
		{"-state=", []string{"-state", "folder"}},
		{"-host a_b", []string{"-host", `"a_b"`, "host name or an IP address"}},
		{"-host a.example:443", []string{"-host", "without port"}},
		{"-host -a", []string{"-host", "host name"}},
		{"-server-timing=maybe", []string{"-server-timing", `"maybe"`, "true or false"}},
		{"-config upstream-timeout=60", []string{"upstream-timeout", "duration", "60s"}},
		{"-config upstream-timeout=0s", []string{"upstream-timeout", "above 0"}},
		{"-shutdown-timeout -1s", []string{"-shutdown-timeout", "above 0"}},
		{"-shutdown-timeout", []string{"-shutdown-timeout", "needs an argument"}},
		{"more", []string{`"more"`, "only flags"}},
	}
	for _, tc := range cases {
		t.Run(tc.args, func(t *testing.T) {
			args := append([]string{"-upstream", "http://127.0.0.1:1"}, strings.Fields(tc.args)...)
			checkUsageError(t, args, tc.says)
		})
	}
	t.Run("no upstream", func(t *testing.T) {
		checkUsageError(t, nil, []string{"-upstream is required", "http://HOST:PORT"})
	})
}

func checkUsageError(t *testing.T, args, says []string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(context.Background(), args, &stdout, &stderr); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
	text := stderr.String()
	if strings.Count(text, "\n") != 1 || stdout.Len() > 0 {
		t.Errorf("not one line: %q", text)
	}
	for _, s := range says {
		if !strings.Contains(text, s) {
			t.Errorf("%q does not say %q", text, s)
		}
	}
}

func TestUnknownFlagListsTheFlags(t *testing.T) {
	all := []string{
		"-listen", "-upstream", "-samples", "-cert", "-key", "-state", "-host", "-server-timing", "-max-requests", "-shutdown-timeout", "-config",
	}
	for args, code := range map[string]int{"-nope": exitUsage, "-h": exitOK} {
		var stdout, stderr bytes.Buffer
		if got := run(context.Background(), []string{args}, &stdout, &stderr); got != code {
			t.Errorf("%s: exit code %d", args, got)
		}
		for _, f := range all {
			if !regexp.MustCompile(`(?m)^  ` + f + `\b`).MatchString(stderr.String()) {
				t.Errorf("%s: %s is not listed in %s", args, f, stderr.String())
			}
		}
		if args == "-nope" && !strings.Contains(stderr.String(), "flag provided but not defined: -nope") {
			t.Error(stderr.String())
		}
	}
}
