package listen

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

type transportError struct {
	transport string
	err       error
}

func (e *transportError) Error() string { return e.transport + ": " + e.err.Error() }
func (e *transportError) Unwrap() error { return e.err }

type congestionError struct {
	name string
	err  error
}

func (e *congestionError) Error() string {
	if errors.Is(e.err, syscall.EPERM) {
		return fmt.Sprintf("the congestion control %q needs root here: net.ipv4.tcp_allowed_congestion_control does not list it", e.name)
	}
	return fmt.Sprintf("the congestion control %q is not available: this kernel has %s", e.name, availableCongestion())
}
func (e *congestionError) Unwrap() error { return e.err }

// availableCongestion lists the congestion controls that the kernel has.
func availableCongestion() string {
	const path = "/proc/sys/net/ipv4/tcp_available_congestion_control"
	names, err := os.ReadFile(path)
	if err != nil {
		return "no list of them at " + path
	}
	return strings.Join(strings.Fields(string(names)), ", ")
}

// bindError makes one sentence out of an error of a -listen flag.
func bindError(spec Spec, err error) error {
	var cc *congestionError
	if errors.As(err, &cc) {
		return fmt.Errorf("flag -listen %s: %w", spec.Text, cc)
	}
	what := spec.Text
	var te *transportError
	if errors.As(err, &te) {
		what += " (" + te.transport + ")"
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use: stop the other program or choose another with -listen", what)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s may not be used by this user: choose a port from 1024 on with -listen", what)
	case absent(err):
		return fmt.Errorf("%s is no address of this machine: choose another with -listen", what)
	}
	return fmt.Errorf("cannot listen on %s: %w", what, err)
}
