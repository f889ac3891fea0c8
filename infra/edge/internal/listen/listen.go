// Package listen opens the sockets of the -listen flags. It imports x/sys, and nothing of this module.
package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// Socket is one address that is served: a TCP listener and, unless HTTP/3 is off, the UDP socket of the same port number.
type Socket struct {
	TCP *net.TCPListener
	UDP *net.UDPConn // nil: no HTTP/3
	// Congestion is the congestion control of the TCP listener, and so of the connections that it accepts.
	Congestion string
	refused    error // why it is not the one that Auto wants
	// Inherited says that the program before this one may still have it.
	Inherited bool
}

// Address returns the address that is served.
func (s Socket) Address() netip.AddrPort { return s.TCP.Addr().(*net.TCPAddr).AddrPort() }

// ReachedAt returns where this machine reaches the socket. That of all addresses serves IPv4 too, and IPv4 alone where the kernel has
// IPv6 off (net.ipv6.conf.all.disable_ipv6), also from some moment on.
func (s Socket) ReachedAt() netip.AddrPort {
	at := s.Address()
	if at.Addr().IsUnspecified() {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return at
}

func (s Socket) close() {
	s.TCP.Close()
	if s.UDP != nil {
		s.UDP.Close()
	}
}

// Close closes all of the sockets.
func Close(sockets []Socket) {
	for _, s := range sockets {
		s.close()
	}
}

// portAttempts bounds the search for a TCP port whose UDP twin is free, too.
const portAttempts = 20

// Open binds what the -listen flags name, or takes what was inherited of it. On error nothing is left behind. The error is one sentence
// that names the address and what to do.
func Open(specs ...Spec) (sockets []Socket, err error) {
	inherited, err := inherit()
	for _, spec := range specs {
		if err == nil {
			var opened []Socket
			opened, err = open(spec, inherited)
			sockets = append(sockets, opened...)
		}
	}
	if err == nil {
		err = inherited.unclaimed()
	}
	if err != nil {
		Close(sockets)
		return nil, err
	}
	return sockets, nil
}

// open binds all addresses of one flag, on one port number also where that is 0. Those that were inherited are bound already.
func open(spec Spec, inherited inheritance) (sockets []Socket, err error) {
	for range portAttempts {
		if sockets, err = openOnce(spec, inherited); err == nil {
			return sockets, nil
		}
		Close(sockets)
		if spec.Port != 0 || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return nil, sentence(spec, err)
}

// openOnce may return sockets also where it returns an error.
func openOnce(spec Spec, inherited inheritance) (sockets []Socket, err error) {
	port := spec.Port
	for i, host := range spec.Hosts {
		s, err := openSocket(netip.AddrPortFrom(host, port), spec, inherited)
		if i > 0 && spec.optional && absent(err) {
			continue
		}
		if err != nil {
			return sockets, err
		}
		sockets = append(sockets, s)
		port = s.Address().Port()
	}
	return sockets, nil
}

// absent says whether err means that the machine does not have the address, such as [::1] where IPv6 is off.
func absent(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
}

func openSocket(addr netip.AddrPort, spec Spec, inherited inheritance) (s Socket, err error) {
	s = inherited[addr]
	delete(inherited, addr)
	s.Inherited = s.TCP != nil
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.TCP == nil {
		if s.TCP, err = listenTCP(addr); err != nil {
			return s, err
		}
	}
	if s.refused, err = control(s.TCP, spec.Congestion, preferred); err != nil {
		return s, cannotControl(spec, err)
	}
	s.Congestion = congestion(s.TCP)
	if spec.HTTP3 && s.UDP == nil {
		s.UDP, err = UDP(s.TCP)
	}
	return s, err
}

func listenTCP(addr netip.AddrPort) (*net.TCPListener, error) {
	var lc net.ListenConfig
	// Go offers multipath TCP by default. A connection over several paths has no single RTT, loss and rate to report.
	lc.SetMultipathTCP(false)
	// One socket for both families where the address is unspecified; "tcp" and "udp" do that.
	text := addr.String()
	if addr.Addr() == netip.IPv6Unspecified() {
		text = fmt.Sprintf(":%d", addr.Port())
	}
	ln, err := lc.Listen(context.Background(), "tcp", text)
	if err != nil {
		return nil, err
	}
	return ln.(*net.TCPListener), nil
}

// UDP binds the UDP socket of a TCP listener's address and port number.
func UDP(tcp *net.TCPListener) (*net.UDPConn, error) {
	bound := tcp.Addr().(*net.TCPAddr)
	return net.ListenUDP("udp", &net.UDPAddr{IP: bound.IP, Port: bound.Port, Zone: bound.Zone})
}
