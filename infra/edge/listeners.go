package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is one address that is served: a TCP listener and, unless HTTP/3 is off, the UDP socket of the same number.
type socket struct {
	tcp *net.TCPListener
	udp *net.UDPConn // nil: no HTTP/3
}

func (s socket) address() string { return s.tcp.Addr().String() }

func (s socket) port() int { return s.tcp.Addr().(*net.TCPAddr).Port }

func (s socket) close() {
	s.tcp.Close()
	if s.udp != nil {
		s.udp.Close()
	}
}

func closeSockets(sockets []socket) {
	for _, s := range sockets {
		s.close()
	}
}

// portAttempts bounds the search for a TCP port whose UDP twin is free, too.
const portAttempts = 20

// openListen binds all addresses of one -listen flag, on one port number also where that is 0.
func openListen(spec listenSpec) ([]socket, error) {
	var err error
	for range portAttempts {
		var sockets []socket
		if sockets, err = openOnce(spec); err == nil {
			return sockets, nil
		}
		if spec.port != 0 || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return nil, bindError(spec, err)
}

func openOnce(spec listenSpec) (sockets []socket, err error) {
	defer func() {
		if err != nil {
			closeSockets(sockets)
		}
	}()
	port := spec.port
	for i, host := range spec.hosts {
		s, err := openSocket(netip.AddrPortFrom(host, port), spec)
		if i > 0 && spec.optional && absent(err) {
			continue
		}
		if err != nil {
			return sockets, err
		}
		sockets = append(sockets, s)
		port = s.tcp.Addr().(*net.TCPAddr).AddrPort().Port()
	}
	return sockets, nil
}

// absent says that the machine does not have the address, as [::1] where IPv6 is off.
func absent(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
}

func openSocket(addr netip.AddrPort, spec listenSpec) (socket, error) {
	var congestion error
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		if spec.congestion == "" {
			return nil
		}
		// Accepted connections inherit what was set on the listener (tcp_ca_openreq_child, net/ipv4/tcp_minisocks.c).
		err := raw.Control(func(fd uintptr) {
			congestion = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, spec.congestion)
		})
		return errors.Join(err, congestion)
	}}
	// Go offers multipath TCP by default; a connection over several paths has no one RTT, loss and rate to report.
	lc.SetMultipathTCP(false)
	// One socket for both families where the address is unspecified; "tcp" and "udp" do that.
	text := addr.String()
	if addr.Addr() == netip.IPv6Unspecified() {
		text = fmt.Sprintf(":%d", addr.Port())
	}
	ln, err := lc.Listen(context.Background(), "tcp", text)
	if err != nil {
		if congestion != nil {
			return socket{}, &congestionError{spec.congestion, congestion}
		}
		return socket{}, &transportError{"TCP", err}
	}
	s := socket{tcp: ln.(*net.TCPListener)}
	if !spec.http3 {
		return s, nil
	}
	if s.udp, err = listenUDP(s.tcp); err != nil {
		s.tcp.Close()
		return socket{}, &transportError{"UDP", err}
	}
	return s, nil
}

// listenUDP binds the UDP socket of a TCP listener's address and port number.
func listenUDP(tcp *net.TCPListener) (*net.UDPConn, error) {
	bound := tcp.Addr().(*net.TCPAddr)
	return net.ListenUDP("udp", &net.UDPAddr{IP: bound.IP, Port: bound.Port, Zone: bound.Zone})
}

type transportError struct {
	transport string
	err       error
}

func (e *transportError) Error() string { return e.transport + ": " + e.err.Error() }
func (e *transportError) Unwrap() error { return e.err }

type congestionError struct {
	name string
	err  error
}

func (e *congestionError) Error() string {
	if errors.Is(e.err, syscall.EPERM) {
		return fmt.Sprintf("the congestion control %q needs root here: net.ipv4.tcp_allowed_congestion_control does not list it", e.name)
	}
	return fmt.Sprintf("the congestion control %q is not available: this kernel has %s", e.name, availableCongestion())
}
func (e *congestionError) Unwrap() error { return e.err }

// availableCongestion names what the kernel has.
func availableCongestion() string {
	const path = "/proc/sys/net/ipv4/tcp_available_congestion_control"
	names, err := os.ReadFile(path)
	if err != nil {
		return "no list of them at " + path
	}
	return strings.Join(strings.Fields(string(names)), ", ")
}

// bindError makes one sentence of what went wrong with a -listen flag.
func bindError(spec listenSpec, err error) error {
	var cc *congestionError
	if errors.As(err, &cc) {
		return fmt.Errorf("flag -listen %s: %w", spec.text, cc)
	}
	what := spec.text
	var te *transportError
	if errors.As(err, &te) {
		what += " (" + te.transport + ")"
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use: stop the other program or choose another with -listen", what)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s may not be used by this user: choose a port from 1024 on with -listen", what)
	case absent(err):
		return fmt.Errorf("%s is no address of this machine: choose another with -listen", what)
	}
	return fmt.Errorf("cannot listen on %s: %w", what, err)
}

// tcpListener hands out connections that are measured.
type tcpListener struct {
	*net.TCPListener
	registry *registry
	onClose  func(*connection)
	linger   *lingerer
	quic     *quicServer // nil: no HTTP/3
}

func (l *tcpListener) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	t, err := newTCPConn(c, time.Now(), l.onClose, l.linger)
	if err != nil {
		c.Close()
		return nil, err
	}
	t.conn.quic = l.quic
	l.registry.add(t.conn, func() { t.Close() })
	return t, nil
}
