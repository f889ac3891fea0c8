package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	o, err := parseFlags(strings.Fields(
		"-a x -b y -control /s -address-a 10.0.0.1/32 -address-a fd00::1/64 -route-a default -route-b 10.0.0.0/24 -mtu 1400"))
	if err != nil {
		t.Fatal(err)
	}
	if o.a.Namespace != "x" || o.b.Device != "netpath-b" || len(o.a.addresses) != 2 || len(o.b.routes) != 1 || o.mtu != 1400 {
		t.Errorf("got %+v", o)
	}
}

// All that is wrong with the command line and with the configuration is said at once.
func TestFlagFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.json")
	if err := os.WriteFile(file, []byte(`{"aToB": {"rateMbps": 0, "lossRatio": -1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := parseFlags([]string{
		"-b", "y", "-mtu", "1", "-device-a", "0123456789abcdef", "-address-a", "10.0.0.1",
		"-route-b", "nowhere", "-config", file, "more",
	})
	if err == nil {
		t.Fatal("nothing was said")
	}
	for _, want := range []string{
		`"more"`, "-a is", "-control", "-mtu", "0123456789abcdef", "10.0.0.1", "nowhere",
		"/aToB/rateMbps", "/aToB/lossRatio",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named in:\n%v", want, err)
		}
	}
}
