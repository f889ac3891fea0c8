package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDevelopmentCertificate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "state")
	now := time.Now()
	first, err := developmentCertificate(dir, []string{"a.example", "2001:DB8::1"}, now)
	if err != nil {
		t.Fatal(err)
	}
	leaf := first.Leaf
	for _, name := range []string{"localhost", "site.localhost", "127.0.0.1", "::1", "a.example", "2001:db8::1"} {
		if err := leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if err := leaf.VerifyHostname("b.example"); err == nil {
		t.Error("it covers b.example")
	}
	if key, ok := leaf.PublicKey.(*ecdsa.PublicKey); !ok || key.Curve != elliptic.P256() {
		t.Errorf("key %T", leaf.PublicKey)
	}
	if info, err := os.Stat(filepath.Join(dir, devKeyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.pem.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	cases := []struct {
		name   string
		hosts  []string
		now    time.Time
		before func(t *testing.T)
		reused bool
	}{
		{"the same names", []string{"a.example", "2001:db8::1"}, now, nil, true},
		{"fewer names", nil, now, nil, true},
		{"a while later", nil, now.Add(devCertLife - devCertReserve - time.Minute), nil, true},
		{"another name", []string{"c.example"}, now, nil, false},
		{"it ends soon", nil, now.Add(devCertLife - devCertReserve + time.Minute), nil, false},
		{"its clock was ahead", nil, now.Add(-2 * time.Hour), nil, false},
		{"the key is gone", nil, now, func(t *testing.T) { remove(t, dir, devKeyFile) }, false},
		{"the certificate is gone", nil, now, func(t *testing.T) { remove(t, dir, devCertFile) }, false},
		{"the certificate is damaged", nil, now, func(t *testing.T) { overwrite(t, dir, devCertFile) }, false},
		{"the key is damaged", nil, now, func(t *testing.T) { overwrite(t, dir, devKeyFile) }, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			before, err := developmentCertificate(dir, []string{"a.example", "2001:db8::1"}, now)
			if err != nil {
				t.Fatal(err)
			}
			if tc.before != nil {
				tc.before(t)
			}
			after, err := developmentCertificate(dir, tc.hosts, tc.now)
			if err != nil {
				t.Fatal(err)
			}
			if reused := bytes.Equal(before.Certificate[0], after.Certificate[0]); reused != tc.reused {
				t.Errorf("reused: %v, want %v", reused, tc.reused)
			}
			kept, err := tls.LoadX509KeyPair(filepath.Join(dir, devCertFile), filepath.Join(dir, devKeyFile))
			if err != nil || !bytes.Equal(kept.Certificate[0], after.Certificate[0]) {
				t.Errorf("what is kept is not what is used: %v", err)
			}
		})
	}
}

func remove(t *testing.T, dir, file string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, file)); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, dir, file string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, file), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestGivenCertificate(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := writeCertificate(t, dir, time.Now().Add(days), "given.example")
	state := filepath.Join(dir, "state")
	got, err := Load(Options{CertFiles: []string{certFile}, KeyFiles: []string{keyFile}, StateDir: state}, time.Now())
	if err != nil || got[0].Leaf.DNSNames[0] != "given.example" {
		t.Fatalf("%v %v", got, err)
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("a development certificate was made all the same")
	}
}
