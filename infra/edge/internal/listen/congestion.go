package listen

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// setCongestion sets the congestion control of a listener. Accepted connections inherit it (tcp_ca_openreq_child,
// net/ipv4/tcp_minisocks.c).
func setCongestion(ln *net.TCPListener, name string) error {
	if name == "" {
		return nil
	}
	raw, err := ln.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	})
	return errors.Join(err, refused)
}

// congestion returns the congestion control of a listener.
func congestion(ln *net.TCPListener) (name string) {
	if raw, err := ln.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			name, _ = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		})
	}
	return name
}
