package main

import (
	"bytes"
	"context"
	"net"
	"strconv"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/listen"
)

func mustOpen(t *testing.T, s string) []listen.Socket {
	t.Helper()
	spec, err := listen.ParseSpec(s)
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := listen.Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listen.Close(sockets) })
	return sockets
}

// runStart runs the program up to its failure to start and gives what it says.
func runStart(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), edgetest.Patience)
	defer cancel()
	args = append([]string{"-upstream", "http://127.0.0.1:1", "-state", t.TempDir()}, args...)
	if code := run(ctx, args, &stdout, &stderr); code != exitFailure || stdout.Len() > 0 {
		t.Errorf("exit code %d, stdout %q", code, stdout.String())
	}
	if n := strings.Count(stderr.String(), "\n"); n != 1 {
		t.Errorf("%d lines: %s", n, stderr.String())
	}
	return stderr.String()
}

func TestBusyPorts(t *testing.T) {
	tcp := mustOpen(t, "127.0.0.1:0,http3=off")[0].Address().String()
	half := mustOpen(t, "127.0.0.1:0")[0]
	udp := half.Address().String()
	half.TCP.Close()

	for address, transport := range map[string]string{tcp: "TCP", udp: "UDP"} {
		// The first listener must be given back.
		free := mustOpen(t, "127.0.0.1:0")
		listen.Close(free)
		got := runStart(t, "-listen", free[0].Address().String(), "-listen", address)
		want := "edge: " + address + " (" + transport + ") is in use: stop the other program or choose another with -listen\n"
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		mustOpen(t, free[0].Address().String())
	}
	// Without HTTP/3 the UDP port does not matter.
	mustOpen(t, udp+",http3=off")
}

func TestAddressOfAnotherMachine(t *testing.T) {
	if got := runStart(t, "-listen", "192.0.2.1:0"); !strings.Contains(got, "192.0.2.1:0") || !strings.Contains(got, "no address of this machine") {
		t.Error(got)
	}
}

func TestUnknownCongestionControl(t *testing.T) {
	got := runStart(t, "-listen", "127.0.0.1:0,congestion=nonesuch")
	for _, s := range []string{"-listen", `"nonesuch"`, "not available", "this kernel has"} {
		if !strings.Contains(got, s) {
			t.Errorf("%q does not say %q", got, s)
		}
	}
}

func TestAnnouncement(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, image), "-listen", "localhost:0", "-listen", reno, "-listen", "127.0.0.1:0,http3=off")
	best := mustOpen(t, "127.0.0.1:0")[0]
	if len(e.addresses) != len(e.http3) || len(e.addresses) != len(e.tcp) || len(e.addresses) < 2 || len(e.spki) != 44 {
		t.Fatalf("%v %v %q", e.addresses, e.http3, e.spki)
	}
	for i, a := range e.addresses {
		if off := i == len(e.addresses)-1; e.http3[i] == off {
			t.Errorf("%s: HTTP/3 %v", a, e.http3[i])
		}
		want := best.Congestion
		if i == len(e.addresses)-2 {
			want = "reno"
		}
		if e.tcp[i] != want {
			t.Errorf("%s: TCP with %s, want %s", a, e.tcp[i], want)
		}
		if _, port, err := net.SplitHostPort(a); err != nil || port == "0" {
			t.Errorf("address %q", a)
		} else if _, err := strconv.Atoi(port); err != nil {
			t.Error(err)
		}
	}
	// What is missing is said once, and what was chosen is right.
	says := 0
	if best.WeakCongestion() != "" {
		says = 1
	}
	if got := strings.Count(e.stderr.String(), "edge: TCP: "); got != says {
		t.Errorf("%d sentences, want %d: %s", got, says, e.stderr)
	}
	// Every one of them answers.
	for _, a := range e.addresses {
		for i, p := range protocols {
			if i < 2 || a != e.addresses[len(e.addresses)-1] {
				e.get(e.client(p, a), "/")
			}
		}
	}
}
