package listen

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
)

// sentence says why an address of a -listen flag cannot be bound.
func sentence(spec Spec, err error) error {
	var op *net.OpError
	if !errors.As(err, &op) {
		return err // of the congestion control, and a sentence already
	}
	what := fmt.Sprintf("%s (%s)", spec.Text, strings.ToUpper(op.Net))
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

// cannotControl makes a sentence of why a congestion control cannot be chosen.
func cannotControl(spec Spec, err error) error {
	why := fmt.Sprintf("is not available: this kernel has %s", availableCongestion())
	if errors.Is(err, syscall.EPERM) {
		why = "needs root here: net.ipv4.tcp_allowed_congestion_control does not list it"
	}
	return fmt.Errorf("flag -listen %s: the congestion control %q %s", spec.Text, spec.Congestion, why)
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
