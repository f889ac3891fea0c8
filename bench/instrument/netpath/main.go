// netpath joins two network namespaces by an emulated path; see README.md.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/netpath/control"
	"adaptive-h3/bench/instrument/netpath/tunpath"
)

func main() {
	options, err := parseFlags(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if err := run(options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(o options) error {
	if !mayAdministrate() {
		return errors.New("netpath needs the capability CAP_NET_ADMIN, which root has")
	}
	// Before anything is made: from here on a signal ends it in order.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	// Four threads are blocked in system calls most of the time, and none should wait for a turn of Go's scheduler.
	runtime.GOMAXPROCS(max(8, runtime.NumCPU()))
	tunpath.RaisePriority()
	listener, err := control.Listen(o.control)
	if err != nil {
		return err
	}
	defer listener.Close()
	path, err := tunpath.Open(o.a.End, o.b.End, o.mtu, o.config)
	if err != nil {
		return err
	}
	return errors.Join(serve(o, path, listener, signals), path.Close())
}

func serve(o options, path control.Path, listener net.Listener, signals <-chan os.Signal) error {
	for _, s := range []side{o.a, o.b} {
		if err := s.apply(); err != nil {
			return err
		}
	}
	go control.Serve(listener, path)
	ready := map[string]any{"ready": true, "deviceA": o.a.Device, "deviceB": o.b.Device}
	if err := json.NewEncoder(os.Stdout).Encode(ready); err != nil {
		return err
	}
	<-signals
	return nil
}

func mayAdministrate() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) != nil {
		return false
	}
	return data[0].Effective&(1<<unix.CAP_NET_ADMIN) != 0
}
