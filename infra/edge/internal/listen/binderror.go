package listen

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// bindError is an error of a -listen flag, in one sentence.
type bindError struct {
	sentence string
	err      error
}

func (e *bindError) Error() string { return e.sentence }
func (e *bindError) Unwrap() error { return e.err }

// cannotBind makes a sentence of why an address cannot be bound; transport is TCP or UDP.
func cannotBind(spec Spec, transport string, err error) error {
	what := fmt.Sprintf("%s (%s)", spec.Text, transport)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		what += " is in use: stop the other program or choose another with -listen"
	case errors.Is(err, syscall.EACCES):
		what += " may not be used by this user: choose a port from 1024 on with -listen"
	case absent(err):
		what += " is no address of this machine: choose another with -listen"
	default:
		what = fmt.Sprintf("cannot listen on %s: %v", what, err)
	}
	return &bindError{what, err}
}

// cannotControl makes a sentence of why a congestion control cannot be chosen.
func cannotControl(spec Spec, err error) error {
	why := fmt.Sprintf("is not available: this kernel has %s", availableCongestion())
	if errors.Is(err, syscall.EPERM) {
		why = "needs root here: net.ipv4.tcp_allowed_congestion_control does not list it"
	}
	return &bindError{fmt.Sprintf("flag -listen %s: the congestion control %q %s", spec.Text, spec.Congestion, why), err}
}

// availableCongestion lists the congestion controls that the kernel has.
func availableCongestion() string {
	const path = "/proc/sys/net/ipv4/tcp_available_congestion_control"
	names, err := os.ReadFile(path)
	if err != nil {
		return "no list of them at " + path
	}
	return strings.Join(strings.Fields(string(names)), ", ")
}
