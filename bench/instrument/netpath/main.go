// netpath joins two network namespaces by an emulated path; see README.md.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"adaptive-h3/bench/instrument/netpath/control"
	"adaptive-h3/bench/instrument/netpath/tunpath"
)

func main() {
	a := flag.String("a", "", "network namespace of end a, in which the device netpath is made")
	b := flag.String("b", "", "network namespace of end b")
	socket := flag.String("control", "", "Unix socket to make")
	flag.Parse()
	if err := run(*a, *b, *socket); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(a, b, socket string) error {
	if a == "" || b == "" || socket == "" || flag.NArg() > 0 {
		return errors.New("netpath takes -a, -b and -control, and no other argument than its flags: see -help")
	}
	// Before anything is made: from here on a signal ends it in order.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	// Four threads are blocked in system calls most of the time, and none should wait for a turn of Go's scheduler.
	runtime.GOMAXPROCS(max(8, runtime.NumCPU()))
	tunpath.RaisePriority()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("-control: %w", err)
	}
	defer listener.Close()
	path, err := tunpath.Open(a, b)
	if err != nil {
		return err
	}
	go control.Serve(listener, path)
	fmt.Println(`{"ready":true}`)
	<-signals
	return nil
}
