package listen

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Auto is the congestion control of a listener that names none: bbr where the kernel gives it to this process, or else the kernel's own
// default.
const Auto = "auto"

// preferred is what Auto wants. On a lossy or distant path pages can take half as long with it as with cubic (docs/results/levers.md).
const preferred = "bbr"

// control sets the congestion control of a listener. With Auto, a kernel that refuses what is wanted is no error: why has its answer, and
// the listener has the kernel's default.
func control(ln *net.TCPListener, name, wanted string) (why, err error) {
	if name != Auto {
		return nil, setCongestion(ln, name)
	}
	if why = setCongestion(ln, wanted); why != nil {
		// The program before this one may have set another one on a listener that was inherited.
		_ = setCongestion(ln, kernelDefault())
	}
	return why, nil
}

// setCongestion sets the congestion control of a listener. Accepted connections inherit it (tcp_ca_openreq_child,
// net/ipv4/tcp_minisocks.c).
func setCongestion(ln *net.TCPListener, name string) error {
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

// kernelDefault returns the congestion control that the kernel gives a socket for which nobody chose.
func kernelDefault() string {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	name, _ := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	return name
}

// WeakCongestion says what to type where the kernel gave a listener less than Auto wants; otherwise it returns "".
func (s Socket) WeakCongestion() string {
	if s.refused == nil {
		return ""
	}
	return weakCongestion(s.Congestion, s.refused)
}

// weakCongestion makes a sentence of the kernel's answer: EPERM where it has bbr, and tcp_allowed_congestion_control does not list it for a
// process without CAP_NET_ADMIN, or ENOENT where it has none (tcp_set_congestion_control, net/ipv4/tcp_cong.c). A module that is
// there but not loaded is not found: the kernel loads it for CAP_NET_ADMIN alone. Once loaded, it still has to be allowed.
func weakCongestion(name string, refused error) string {
	const allow = `sysctl net.ipv4.tcp_allowed_congestion_control="reno cubic bbr"`
	why, load, files := "this kernel has no bbr", "modprobe tcp_bbr; ", "/etc/modules-load.d and /etc/sysctl.d keep it"
	if errors.Is(refused, syscall.EPERM) {
		why, load, files = "this process is not allowed bbr", "", "/etc/sysctl.d keeps it"
	}
	return fmt.Sprintf("pages are sent with %s, because %s: on lossy and distant paths they could take half as long. "+
		"As root, type %s%s (%s), and start the edge again; docs/deploy-server.md has the lines. "+
		"CAP_NET_ADMIN for its unit would do too, but allows it much more", name, why, load, allow, files)
}
