// Package ownsocket listens for programs of this machine, over TCP or at the path of a Unix socket.
package ownsocket

import (
	"errors"
	"fmt"
	"net"
	"os"
)

// Listen listens at an address of the network "tcp" or "unix". It takes the place of a socket that a killed program left behind, and
// accepts a client also where the process may open nothing more.
func Listen(network, address string) (net.Listener, error) {
	if network == "unix" {
		if err := remove(address); err != nil {
			return nil, err
		}
	}
	ln, err := net.Listen(network, address)
	if u, ok := ln.(*net.UnixListener); ok {
		// The program that follows may have put its own in this place by then.
		u.SetUnlinkOnClose(false)
	}
	if err != nil {
		return nil, err
	}
	return newPatient(ln), nil
}

// remove removes a socket, and nothing else: a flag with a typing error must not cost a file.
func remove(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("%s is there and is not a socket: name another path", path)
	}
	return os.Remove(path)
}
