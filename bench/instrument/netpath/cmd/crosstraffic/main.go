// crosstraffic downloads over one TCP connection from one network namespace to another one, as fast as the path between them lets
// it, until a signal ends it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/netpath/netns"
)

func main() {
	server := flag.String("server", "", "network namespace of the sender")
	client := flag.String("client", "", "network namespace of the receiver")
	address := flag.String("address", "", "the sender's IP address; it takes a free port")
	congestion := flag.String("congestion", "cubic", "the sender's congestion control")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	ready := func() { fmt.Println(`{"ready":true}`) }
	if err := download(ctx, *server, *client, *address, *congestion, ready); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// download calls ready when the first bytes have come, and returns nil when ctx has ended.
func download(ctx context.Context, server, client, address, congestion string, ready func()) error {
	var (
		listener       net.Listener
		sender, getter net.Conn
		err            error
	)
	// A socket stays in the namespace in which it was made.
	err = netns.Do(server, func() (err error) {
		listener, err = listen(ctx, address, congestion)
		return err
	})
	if err != nil {
		return fmt.Errorf("cannot listen on -address %q in -server %s with -congestion %s: %w", address, server, congestion, err)
	}
	defer listener.Close()
	err = netns.Do(client, func() (err error) {
		getter, err = new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
		return err
	})
	if err != nil {
		return fmt.Errorf("-client %s has no way to %s: %w", client, address, err)
	}
	if sender, err = listener.Accept(); err != nil {
		getter.Close()
		return err
	}
	return carry(ctx, sender.(*net.TCPConn), getter.(*net.TCPConn), ready)
}

func listen(ctx context.Context, address, congestion string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(socket uintptr) {
			failed = unix.SetsockoptString(int(socket), unix.IPPROTO_TCP, unix.TCP_CONGESTION, congestion)
		})
		return errors.Join(err, failed)
	}}
	// Else Go asks for multipath TCP, which has a congestion control of its own choice.
	config.SetMultipathTCP(false)
	return config.Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
}

// carry moves bytes until ctx ends or one end does. Both ends then forget what they have: none of it is sent later.
func carry(ctx context.Context, sender, getter *net.TCPConn, ready func()) error {
	ended := make(chan error, 2)
	go func() {
		for zeros := make([]byte, 1<<16); ; {
			if _, err := sender.Write(zeros); err != nil {
				ended <- err
				return
			}
		}
	}()
	go func() {
		buffer := make([]byte, 1<<18)
		_, err := io.ReadAtLeast(getter, buffer, 1)
		if err == nil {
			ready()
		}
		for err == nil {
			_, err = getter.Read(buffer)
		}
		ended <- err
	}()
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	for _, conn := range []*net.TCPConn{sender, getter} {
		_ = conn.SetLinger(0)
		_ = conn.Close()
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("the download ended: %w", err)
}
