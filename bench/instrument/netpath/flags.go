package main

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"adaptive-h3/bench/instrument/netpath/pathconfig"
	"adaptive-h3/bench/instrument/netpath/tunpath"
)

type options struct {
	a, b    side
	control string
	mtu     int
	config  pathconfig.Config
}

type side struct {
	tunpath.End
	addresses, routes list
}

// list is a flag that may be given several times.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// parseFlags reads the command line and the configuration file, and reports all that is wrong with both.
func parseFlags(args []string) (options, error) {
	var o options
	var configFile string
	flags := flag.NewFlagSet("netpath", flag.ContinueOnError)
	for _, s := range []struct {
		name string
		side *side
	}{{"a", &o.a}, {"b", &o.b}} {
		flags.StringVar(&s.side.Namespace, s.name, "", "network namespace of end "+s.name+" (name or path)")
		flags.StringVar(&s.side.Device, "device-"+s.name, "netpath-"+s.name, "device in it")
		flags.Var(&s.side.addresses, "address-"+s.name, "address with prefix length of that device; repeatable")
		flags.Var(&s.side.routes, "route-"+s.name, "destination routed through that device; repeatable")
	}
	flags.StringVar(&o.control, "control", "", "Unix socket to make")
	flags.StringVar(&configFile, "config", "", "configuration, JSON; a free wire without it")
	flags.IntVar(&o.mtu, "mtu", 1500, "MTU of both devices")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	faults := o.check(flags.Args())
	o.config = pathconfig.Free()
	if configFile != "" {
		if text, err := os.ReadFile(configFile); err != nil {
			faults = append(faults, err)
		} else if o.config, err = pathconfig.Parse(text); err != nil {
			faults = append(faults, err)
		}
	}
	return o, errors.Join(faults...)
}

func (o *options) check(rest []string) (faults []error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(rest) > 0 {
		fault("%q is not understood", rest[0])
	}
	for _, needed := range [][2]string{{"a", o.a.Namespace}, {"b", o.b.Namespace}, {"control", o.control}} {
		if needed[1] == "" {
			fault("-%s is missing", needed[0])
		}
	}
	if o.a.Namespace == o.b.Namespace && o.a.Device == o.b.Device {
		fault("-a and -b are the same namespace: -device-a and -device-b must differ")
	}
	if o.mtu < 576 || o.mtu > 65535 {
		fault("-mtu must be from 576 to 65535")
	}
	for _, s := range []side{o.a, o.b} {
		if len(s.Device) == 0 || len(s.Device) > 15 || strings.ContainsAny(s.Device, "/ %") {
			fault("%q cannot be the name of a device", s.Device)
		}
		for _, address := range s.addresses {
			if _, err := netip.ParsePrefix(address); err != nil {
				fault("%q is not an address with a prefix length", address)
			}
		}
		for _, route := range s.routes {
			if _, err := netip.ParsePrefix(route); err != nil && route != "default" {
				fault("%q is not a destination with a prefix length, nor default", route)
			}
		}
	}
	return faults
}
