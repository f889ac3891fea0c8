package listen

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Spec is one -listen flag:
//
//	ADDR[,congestion=auto|NAME][,http3=on|off]
//
// ADDR is IP:PORT, localhost:PORT (127.0.0.1 and, where the machine has it, [::1]) or :PORT (all addresses).
type Spec struct {
	Text       string // ADDR as given, for messages
	Hosts      []netip.Addr
	Port       uint16
	Congestion string // a value for TCP_CONGESTION, or Auto
	HTTP3      bool

	optional bool // addresses after the first may be missing on this machine (localhost without IPv6)
}

// ParseSpec reads the value of a -listen flag. Its error says what is allowed.
func ParseSpec(s string) (Spec, error) {
	addr, rest, _ := strings.Cut(s, ",")
	spec := Spec{Text: addr, Congestion: Auto, HTTP3: true}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return spec, errors.New("the address must be IP:PORT, localhost:PORT or :PORT, such as 127.0.0.1:8443 or [::1]:8443")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return spec, fmt.Errorf("the port %q must be a number from 0 to 65535 (0: any free one)", port)
	}
	spec.Port = uint16(n)
	switch host {
	case "":
		spec.Hosts = []netip.Addr{netip.IPv6Unspecified()}
	case "localhost":
		spec.Hosts = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
		spec.optional = true
	default:
		ip, err := netip.ParseAddr(host)
		if err != nil {
			return spec, fmt.Errorf("the host %q must be an IP address, localhost, or empty for all addresses", host)
		}
		spec.Hosts = []netip.Addr{ip}
	}
	if rest == "" {
		return spec, nil
	}
	for option := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch {
		case key == "congestion" && value != "":
			spec.Congestion = value // whether the kernel has it is known when the socket is made
		case key == "http3" && (value == "on" || value == "off"):
			spec.HTTP3 = value == "on"
		default:
			return spec, fmt.Errorf("the option %q must be congestion=NAME (auto, or such as bbr, cubic or reno), http3=off or http3=on", option)
		}
	}
	return spec, nil
}
