// crosstraffic is a download that shares a path: one TCP connection from a network namespace to another one, which sends as much
// as it can until the program is ended. It prints a line when slow start is over.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/netpath/netns"
)

// settles is how long a connection is given to find its share: some round trips of the longest paths here.
const settles = 2 * time.Second

func main() {
	from := flag.String("from", "", "network namespace of the sender")
	to := flag.String("to", "", "network namespace of the receiver")
	congestion := flag.String("congestion", "cubic", "the sender's TCP congestion control")
	var address netip.Addr
	flag.TextVar(&address, "to-address", netip.Addr{}, "address of the receiver")
	flag.Parse()
	if err := run(*from, *to, address, *congestion); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(from, to string, address netip.Addr, congestion string) error {
	// A socket stays in the namespace in which it was made.
	var listener net.Listener
	err := netns.Do(to, func() (err error) {
		listener, err = net.Listen("tcp", netip.AddrPortFrom(address, 0).String())
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot receive on %s in %s: %w", address, to, err)
	}
	ended := make(chan error, 2)
	go func() { ended <- receive(listener) }()
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		return errors.Join(c.Control(func(fd uintptr) {
			failed = unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion)
		}), failed)
	}}
	var sender net.Conn
	err = netns.Do(from, func() (err error) {
		sender, err = dialer.Dial("tcp", listener.Addr().String())
		return err
	})
	if err != nil {
		return fmt.Errorf("%s has no way to %s: %w", from, address, err)
	}
	go func() {
		_, err := io.Copy(sender, endless{})
		ended <- err
	}()
	select {
	case err := <-ended:
		return err
	case <-time.After(settles):
	}
	fmt.Println("sending")
	return <-ended
}

func receive(listener net.Listener) error {
	conn, err := listener.Accept()
	if err == nil {
		_, err = io.Copy(io.Discard, conn)
	}
	return err
}

// endless is a source of zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
