package quicserver

import (
	"net/netip"
	"testing"
)

func TestReachedAt(t *testing.T) {
	for _, test := range []struct {
		at, want string
		ipv6     bool
	}{
		{"192.0.2.1:443", "192.0.2.1:443", true},
		{"[2001:db8::1]:443", "[2001:db8::1]:443", true},
		{"0.0.0.0:443", "127.0.0.1:443", true},
		{"[::]:443", "[::1]:443", true},
		{"[::]:443", "127.0.0.1:443", false},
	} {
		if got := reachedAt(netip.MustParseAddrPort(test.at), func(netip.AddrPort) bool { return test.ipv6 }); got.String() != test.want {
			t.Errorf("%s, IPv6 %t: %s, want %s", test.at, test.ipv6, got, test.want)
		}
	}
}
