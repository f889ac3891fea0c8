// Package netns runs a function inside a network namespace.
package netns

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Do runs f on a thread that is in the namespace, as `ip netns add` made it. The thread ends with f: it is never given to another goroutine.
func Do(name string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- enter(name, f)
	}()
	return <-done
}

func enter(name string, f func() error) error {
	file, err := os.Open("/run/netns/" + name)
	if err != nil {
		return fmt.Errorf("there is no network namespace %s: %w", name, err)
	}
	defer file.Close()
	if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("cannot enter the network namespace %s: %w", name, err)
	}
	return f()
}
