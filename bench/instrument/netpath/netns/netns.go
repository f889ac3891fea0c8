// Package netns runs a function inside a network namespace.
package netns

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Path is that of a namespace made by `ip netns add`, or the name itself where it is a path.
func Path(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return filepath.Join("/run/netns", name)
}

// Do runs f on a thread that is in the namespace. The thread ends with f: it is never given to another goroutine.
func Do(name string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		done <- enter(name, f)
	}()
	return <-done
}

func enter(name string, f func() error) error {
	file, err := os.Open(Path(name))
	if err != nil {
		return fmt.Errorf("there is no network namespace %s: %w", name, err)
	}
	defer file.Close()
	if err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("cannot enter the network namespace %s: %w", name, err)
	}
	return f()
}
