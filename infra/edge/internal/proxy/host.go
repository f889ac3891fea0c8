package proxy

import (
	"net/netip"
	"strconv"
	"strings"
)

// hostName returns the name in the request's Host, and whether a URL parser may take that Host (WHATWG URL, section 4.4). The worker
// refuses the few that pass here and do not parse either, such as 256.1.1.1. net/http has refused control characters and spaces before.
func hostName(host string) (name string, ok bool) {
	name, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		name, port = host[:i], host[i+1:]
	}
	if port != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return "", false
		}
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		address, isClosed := strings.CutSuffix(inner, "]")
		ip, err := netip.ParseAddr(address)
		return address, isClosed && err == nil && ip.Is6() && ip.Zone() == ""
	}
	return name, !strings.ContainsAny(name, " \"#/:<>?@[\\]^|")
}
