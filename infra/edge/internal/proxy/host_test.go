package proxy

import "testing"

func TestHostName(t *testing.T) {
	for _, host := range []string{
		"", "localhost", "localhost:0", "localhost:65535", "localhost:", "a_b", "xn--a", "b%41c", "192.0.2.7:443", "[::1]", "[2001:db8::7]:8443",
	} {
		if _, ok := hostName(host); !ok {
			t.Errorf("%s is refused", host)
		}
	}
	for host, want := range map[string]string{
		"localhost:8443": "localhost", "192.0.2.7:443": "192.0.2.7", "[::1]:8443": "::1", "[2001:db8::7]": "2001:db8::7", "a.example": "a.example",
	} {
		if name, ok := hostName(host); name != want || !ok {
			t.Errorf("%s: %q, want %q", host, name, want)
		}
	}
	for _, host := range []string{
		"localhost:99999", "localhost:65536", "localhost:x", "localhost:-1", "localhost:+1", "a:b:c", "::1", "[::1", "[::g]", "[::1]x", "[fe80::1%eth0]",
		"[192.0.2.7]", "[", "a]", "a/b", "a?b", "a#b", "u@a", `a\b`,
	} {
		if _, ok := hostName(host); ok {
			t.Errorf("%s is taken", host)
		}
	}
}
