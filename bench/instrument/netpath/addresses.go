package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// apply gives an end its addresses and routes.
func (s side) apply() error {
	for _, address := range s.addresses {
		args := []string{"address", "add", address, "dev", s.Device}
		if strings.Contains(address, ":") {
			// There is no neighbour on a TUN device that could have the same address.
			args = append(args, "nodad")
		}
		if err := s.ip(args...); err != nil {
			return err
		}
	}
	for _, route := range s.routes {
		args := []string{"route", "add", route, "dev", s.Device}
		if strings.Contains(route, ":") {
			args = append([]string{"-6"}, args...)
		}
		if err := s.ip(args...); err != nil {
			return err
		}
	}
	return nil
}

func (s side) ip(args ...string) error {
	out, err := exec.Command("ip", append([]string{"-n", s.Namespace}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip -n %s %s: %s: %w", s.Namespace, strings.Join(args, " "), strings.TrimSpace(string(out)), err)
	}
	return nil
}
