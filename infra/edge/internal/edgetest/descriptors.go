package edgetest

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// LeaveNoDescriptor leaves this process no descriptor until the returned function, or the end of the test.
func LeaveNoDescriptor(t *testing.T) (release func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = 1024
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	release = func() {
		for _, f := range taken {
			f.Close()
		}
		taken = nil
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	}
	t.Cleanup(release)
	for {
		f, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) {
			return release
		}
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, f)
	}
}
