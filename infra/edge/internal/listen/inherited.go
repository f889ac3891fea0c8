package listen

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// inheritance has the sockets that this program was started with, by their address. Whoever started it keeps them (systemd does;
// sd_listen_fds(3)): connections wait for the next program while there is none, and two programs can accept at a time.
type inheritance map[netip.AddrPort]Socket

// firstInherited is SD_LISTEN_FDS_START.
const firstInherited = 3

// inherit takes the sockets of the environment's LISTEN_FDS. They are this program's if LISTEN_PID is its own, or that of the
// shell that started it.
func inherit() (inheritance, error) {
	pid := os.Getenv("LISTEN_PID")
	if pid == "" || pid != strconv.Itoa(os.Getpid()) && pid != strconv.Itoa(os.Getppid()) {
		return nil, nil
	}
	n, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil {
		return nil, fmt.Errorf("LISTEN_FDS is no number: %w", err)
	}
	// A second call finds none.
	os.Unsetenv("LISTEN_PID")
	all := inheritance{}
	for fd := firstInherited; fd < firstInherited+n; fd++ {
		if err := all.take(fd); err != nil {
			return nil, fmt.Errorf("descriptor %d of LISTEN_FDS is neither a TCP listener nor a UDP socket: %w", fd, err)
		}
	}
	return all, nil
}

func (in inheritance) take(fd int) error {
	unix.CloseOnExec(fd)
	file := os.NewFile(uintptr(fd), "inherited")
	defer file.Close() // net has a copy then
	if ln, err := net.FileListener(file); err == nil {
		tcp, ok := ln.(*net.TCPListener)
		if !ok {
			return errors.New(ln.Addr().Network())
		}
		at := unmapped(tcp.Addr().(*net.TCPAddr).AddrPort())
		in[at] = Socket{TCP: tcp, UDP: in[at].UDP}
		return nil
	}
	conn, err := net.FilePacketConn(file)
	if err != nil {
		return err
	}
	udp, ok := conn.(*net.UDPConn)
	if !ok {
		return errors.New(conn.LocalAddr().Network())
	}
	at := unmapped(udp.LocalAddr().(*net.UDPAddr).AddrPort())
	in[at] = Socket{TCP: in[at].TCP, UDP: udp}
	return nil
}

func unmapped(at netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// unclaimed returns an error that names a socket that no -listen flag has taken. It would never be served.
func (in inheritance) unclaimed() error {
	for at := range in {
		return fmt.Errorf("there is an inherited socket of %s (LISTEN_FDS) that no -listen flag names", at)
	}
	return nil
}
