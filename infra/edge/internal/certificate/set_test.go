package certificate

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const days = 24 * time.Hour

// writeCertificate writes a certificate that ends then, and its key, into dir. Nobody reads a half of a file, but somebody may read the new
// key with the old certificate.
func writeCertificate(t *testing.T, dir string, ends time.Time, name string) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := WriteSelfSigned(certFile, keyFile, []string{name}, ends); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// openSet opens the set of certificates that are for one name each, in folders of their own.
func openSet(t *testing.T, now time.Time, hosts []string, names ...string) (*Set, []string, *[]string) {
	t.Helper()
	options := Options{Hosts: hosts}
	var dirs []string
	for _, name := range names {
		dir := t.TempDir()
		cert, key := writeCertificate(t, dir, now.Add(30*days), name)
		options.CertFiles, options.KeyFiles = append(options.CertFiles, cert), append(options.KeyFiles, key)
		dirs = append(dirs, dir)
	}
	said := &[]string{}
	set, err := Open(options, now, func(text string) { *said = append(*said, text) })
	if err != nil {
		t.Fatal(err)
	}
	return set, dirs, said
}

func TestCovers(t *testing.T) {
	set, _, _ := openSet(t, time.Now(), []string{"192.0.2.1", "2001:db8::1", "More.example", "*.many.example"}, "a.example", "*.b.example")
	for host, want := range map[string]bool{
		"a.example": true, "A.Example": true, "a.example.": true, "x.a.example": false, "example": false, "": false, ".": false,
		"x.b.example": true, "b.example": false, "x.y.b.example": false, ".b.example": false,
		"more.example": true, "x.many.example": true, "192.0.2.1": true, "::ffff:192.0.2.1": true, "192.0.2.2": false,
		"2001:db8::1": true, "[2001:db8:0::1]": true, "2001:db8::2": false, "evil.example": false,
	} {
		if got := set.Covers(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
	if n := testing.AllocsPerRun(100, func() { set.Covers("x.b.example") }); n > 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func TestCertificateByName(t *testing.T) {
	set, _, _ := openSet(t, time.Now(), nil, "a.example", "*.b.example")
	for name, want := range map[string]string{"a.example": "a.example", "x.b.example": "*.b.example", "": "a.example", "c.example": "a.example"} {
		got, err := set.Get(&tls.ClientHelloInfo{
			ServerName: name, SupportedVersions: []uint16{tls.VersionTLS13}, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		})
		if err != nil || got.Leaf.DNSNames[0] != want {
			t.Errorf("%q: %v, %v", name, got.Leaf.DNSNames, err)
		}
	}
}

func TestProblems(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name  string
		hosts []string
		now   time.Time
		want  []string
	}{
		{"none", []string{"a.example"}, now, nil},
		{"it ended", nil, now.Add(31 * days), []string{"the certificate for a.example ended on 2026-01-31"}},
		{"it has not begun", nil, now.Add(-61 * days), []string{"the certificate for a.example begins on 2025-11-01 only"}},
		{"another name", []string{"a.example", "b.example"}, now, []string{"no certificate is for b.example, which -host names"}},
	} {
		set, _, _ := openSet(t, now, tc.hosts, "a.example")
		if got := set.Problems(tc.now); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q", tc.name, got)
		}
	}
}

// Each change of the files is taken, seen once, and one that cannot be used changes nothing.
func TestChangedFiles(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	set, dirs, said := openSet(t, now, []string{"a.example"}, "a.example")
	step := func(what string, want ...string) {
		t.Helper()
		*said = nil
		set.look(now)
		set.look(now)
		if len(*said) != len(want) {
			t.Fatalf("%s: said %q", what, *said)
		}
		for i := range want {
			if !strings.Contains((*said)[i], want[i]) {
				t.Errorf("%s: said %q, want %q", what, *said, want)
			}
		}
	}
	step("the same files")
	writeCertificate(t, dirs[0], now.Add(80*days), "a.example")
	step("a new certificate", "which ends on 2026-03-22")
	if got := set.Ends(); !got.Equal(now.Add(80 * days)) {
		t.Errorf("it ends on %s", got)
	}
	if err := os.WriteFile(dirs[0]+"/key.pem", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	step("a broken key", "stays in use")
	if p := set.Problems(now); len(p) != 1 || !strings.Contains(p[0], "stays in use") || !set.Ends().Equal(now.Add(80*days)) || !set.Covers("a.example") {
		t.Errorf("%q", p)
	}
	writeCertificate(t, dirs[0], now.Add(-days), "b.example")
	step("an old certificate of another name", "b.example is in use", "ended on 2025-12-31", "no certificate is for a.example")
}

// A development certificate ends while the program runs: another one is made before.
func TestDevelopmentCertificateIsRenewed(t *testing.T) {
	now := time.Now()
	set, err := Open(Options{StateDir: t.TempDir()}, now, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	ends := set.Ends()
	if _, err := Open(Options{StateDir: set.options.StateDir, Hosts: []string{"b.example"}}, now, func(string) {}); err != nil {
		t.Fatal(err)
	}
	set.look(now.Add(days))
	if !set.Ends().Equal(ends) {
		t.Error("renewed too soon, or another program's is taken")
	}
	set.look(ends.Add(-days))
	if !set.Ends().After(ends) {
		t.Error("not renewed")
	}
}
