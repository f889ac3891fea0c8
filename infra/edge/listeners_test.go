package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func mustSpec(t *testing.T, s string) listenSpec {
	t.Helper()
	spec, err := parseListenSpec(s)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func mustOpen(t *testing.T, s string) []socket {
	t.Helper()
	sockets, err := openListen(mustSpec(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeSockets(sockets) })
	return sockets
}

func TestTCPAndUDPShareTheNumber(t *testing.T) {
	for _, s := range []string{"127.0.0.1:0", "localhost:0", ":0"} {
		sockets := mustOpen(t, s)
		_, port, _ := net.SplitHostPort(sockets[0].address())
		for _, s := range sockets {
			if _, p, _ := net.SplitHostPort(s.udp.LocalAddr().String()); p != port || port == "0" {
				t.Errorf("TCP %s, UDP %s", s.address(), s.udp.LocalAddr())
			}
		}
	}
}

func TestLocalhostIsBothFamilies(t *testing.T) {
	sockets := mustOpen(t, "localhost:0")
	want := []string{"127.0.0.1"}
	if ln, err := net.Listen("tcp", "[::1]:0"); err == nil {
		ln.Close()
		want = append(want, "::1")
	}
	var got []string
	for _, s := range sockets {
		host, _, _ := net.SplitHostPort(s.address())
		got = append(got, host)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestHTTP3Off(t *testing.T) {
	if s := mustOpen(t, "127.0.0.1:0,http3=off"); s[0].udp != nil {
		t.Error("a UDP socket all the same")
	}
}

// runStart runs the program up to its failure to start and gives what it says.
func runStart(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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
	tcp := mustOpen(t, "127.0.0.1:0,http3=off")[0].address()
	half := mustOpen(t, "127.0.0.1:0")[0]
	udp := half.address()
	half.tcp.Close()

	for address, transport := range map[string]string{tcp: "TCP", udp: "UDP"} {
		// The first listener must be given back.
		free := mustOpen(t, "127.0.0.1:0")
		closeSockets(free)
		got := runStart(t, "-listen", free[0].address(), "-listen", address)
		want := "edge: " + address + " (" + transport + ") is in use: stop the other program or choose another with -listen\n"
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		mustOpen(t, free[0].address())
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
	for _, s := range []string{"-listen", `"nonesuch"`, "not available", availableCongestion()} {
		if !strings.Contains(got, s) {
			t.Errorf("%q does not say %q", got, s)
		}
	}
	err := bindError(listenSpec{text: "x:1"}, &congestionError{"bbr", syscall.EPERM})
	if !strings.Contains(err.Error(), "needs root") {
		t.Error(err)
	}
}

// What is set on a listener holds for the connections that it accepts.
func TestCongestionControlPerListener(t *testing.T) {
	for _, name := range []string{"reno", "cubic"} {
		sockets, err := openListen(mustSpec(t, "127.0.0.1:0,congestion="+name))
		var refused *congestionError
		if errors.As(err, &refused) {
			continue // the kernel has it not, or not for this user: reno it always has
		}
		if err != nil {
			t.Fatal(err)
		}
		c, _ := tcpPairOn(t, sockets, func(*connection) {})
		t.Cleanup(func() { c.Close() })
		var got string
		err = c.raw.Control(func(fd uintptr) {
			got, _ = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		})
		if err != nil || got != name {
			t.Errorf("%q, want %q (%v)", got, name, err)
		}
	}
}

func TestAnnouncement(t *testing.T) {
	e := startEdgeWith(t, startUpstream(t, image), "-listen", "localhost:0", "-listen", "127.0.0.1:0,http3=off")
	if len(e.addresses) != len(e.http3) || len(e.addresses) < 2 || len(e.spki) != 44 {
		t.Fatalf("%v %v %q", e.addresses, e.http3, e.spki)
	}
	for i, a := range e.addresses {
		if off := i == len(e.addresses)-1; e.http3[i] == off {
			t.Errorf("%s: HTTP/3 %v", a, e.http3[i])
		}
		if _, port, err := net.SplitHostPort(a); err != nil || port == "0" {
			t.Errorf("address %q", a)
		} else if _, err := strconv.Atoi(port); err != nil {
			t.Error(err)
		}
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
