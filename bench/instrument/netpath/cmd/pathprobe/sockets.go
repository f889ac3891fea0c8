package main

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/netpath/netns"
)

// receiveBufferBytes holds what arrives while the receiver is kept off its core; no global setting is changed.
const receiveBufferBytes = 64 << 20

// openReceiver binds a port of the namespace; a socket stays in the namespace in which it was made.
func openReceiver(namespace string, address netip.Addr) (socket int, port uint16, err error) {
	err = netns.Do(namespace, func() error {
		socket, err = unix.Socket(family(address), unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		for _, option := range []struct{ name, value int }{
			{unix.SO_RCVBUFFORCE, receiveBufferBytes},
			{unix.SO_TIMESTAMPNS, 1}, // the kernel's stamp: free of the receiver's own wake-up
			{unix.SO_RXQ_OVFL, 1},
		} {
			if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, option.name, option.value); err != nil {
				return fmt.Errorf("cannot set up the receiver: %w", err)
			}
		}
		timeout := unix.NsecToTimeval(50e6)
		if err := unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &timeout); err != nil {
			return err
		}
		if err := unix.Bind(socket, sockaddr(address, 0)); err != nil {
			return fmt.Errorf("cannot receive on %s in %s: %w", address, namespace, err)
		}
		name, err := unix.Getsockname(socket)
		switch name := name.(type) {
		case *unix.SockaddrInet4:
			port = uint16(name.Port)
		case *unix.SockaddrInet6:
			port = uint16(name.Port)
		}
		return err
	})
	return socket, port, err
}

func openSender(namespace string, address netip.Addr, port uint16) (socket int, err error) {
	err = netns.Do(namespace, func() error {
		socket, err = unix.Socket(family(address), unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if err := unix.Connect(socket, sockaddr(address, port)); err != nil {
			return fmt.Errorf("%s has no way to %s: %w", namespace, address, err)
		}
		return unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 4<<20)
	})
	return socket, err
}

func family(address netip.Addr) int {
	if address.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}

func sockaddr(address netip.Addr, port uint16) unix.Sockaddr {
	if address.Is4() {
		return &unix.SockaddrInet4{Addr: address.As4(), Port: int(port)}
	}
	return &unix.SockaddrInet6{Addr: address.As16(), Port: int(port)}
}

// headerBytes is what IP and UDP add to a datagram.
func headerBytes(address netip.Addr) int {
	if address.Is4() {
		return 28
	}
	return 48
}
