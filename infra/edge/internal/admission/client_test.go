package admission

import (
	"net/netip"
	"testing"
)

// A /64 is one client, however many addresses it makes of it.
func TestClient(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.1": "192.0.2.1/32", "2001:db8::1": "2001:db8::/64", "2001:db8::ffff:2": "2001:db8::/64", "2001:db8:0:1::1": "2001:db8:0:1::/64",
	} {
		if got := Client(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := Client(netip.Addr{}); got.IsValid() {
		t.Errorf("no address: %s", got)
	}
}
