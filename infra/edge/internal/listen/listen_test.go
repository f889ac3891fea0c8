package listen

import (
	"net"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func mustSpec(t *testing.T, s string) Spec {
	t.Helper()
	spec, err := ParseSpec(s)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func mustOpen(t *testing.T, s string) []Socket {
	t.Helper()
	sockets, err := Open(mustSpec(t, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Close(sockets) })
	return sockets
}

func TestTCPAndUDPShareTheNumber(t *testing.T) {
	for _, s := range []string{"127.0.0.1:0", "localhost:0", ":0"} {
		sockets := mustOpen(t, s)
		port := sockets[0].Address().Port()
		for _, s := range sockets {
			if s.UDP.LocalAddr().(*net.UDPAddr).AddrPort().Port() != port || port == 0 {
				t.Errorf("TCP %s, UDP %s", s.Address(), s.UDP.LocalAddr())
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
		got = append(got, s.Address().Addr().String())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%v, want %v", got, want)
	}
}

// The socket of all addresses is reached over IPv4, which it serves also where IPv6 is off.
func TestReachedAt(t *testing.T) {
	for _, listen := range []string{":0", "[::]:0", "0.0.0.0:0", "127.0.0.2:0"} {
		s := mustOpen(t, listen)[0]
		client, err := net.DialTCP("tcp4", nil, net.TCPAddrFromAddrPort(s.ReachedAt()))
		if err != nil {
			t.Fatalf("%s: %v", listen, err)
		}
		client.Close()
	}
}

func TestHTTP3Off(t *testing.T) {
	if s := mustOpen(t, "127.0.0.1:0,http3=off"); s[0].UDP != nil {
		t.Error("a UDP socket all the same")
	}
}

// What is set on a listener holds for the connections that it accepts.
func TestCongestionControlPerListener(t *testing.T) {
	for _, name := range []string{"reno", "cubic"} {
		sockets, err := Open(mustSpec(t, "127.0.0.1:0,congestion="+name))
		if err != nil && strings.Contains(err.Error(), "the congestion control") {
			continue // the kernel has it not, or not for this user: reno it always has
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { Close(sockets) })
		client, err := net.Dial("tcp", sockets[0].Address().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		c, err := sockets[0].TCP.AcceptTCP()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		var got string
		raw, err := c.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		err = raw.Control(func(fd uintptr) {
			got, _ = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		})
		if err != nil || got != name {
			t.Errorf("%q, want %q (%v)", got, name, err)
		}
	}
}

// The kernel may have a congestion control that this user may not choose; where it has none of that name, the error lists
// what it has.
func TestCongestionControlRefused(t *testing.T) {
	err := cannotControl(Spec{Text: "x:1", Congestion: "bbr"}, syscall.EPERM)
	if !strings.Contains(err.Error(), "needs root") {
		t.Error(err)
	}
	_, err = Open(mustSpec(t, "127.0.0.1:0,congestion=nonesuch"))
	if err == nil || !strings.Contains(err.Error(), availableCongestion()) {
		t.Error(err)
	}
}
