package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/certificate"
	"adaptive-h3/infra/edge/internal/edgetest"
)

// writeCertificate writes a certificate that ends then, and its key, into dir. Nobody reads a half of a file, but somebody may read the new
// key with the old certificate.
func writeCertificate(t *testing.T, dir string, ends time.Time, name string) (certFile, keyFile string) {
	t.Helper()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := certificate.WriteSelfSigned(certFile, keyFile, []string{name}, ends); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// A new certificate is taken on SIGHUP, over every protocol, and connections that are open stay.
func TestCertificateChanges(t *testing.T) {
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, time.Now().Add(time.Hour), "a.example")
	e := startEdgeWith(t, edgetest.StartUpstream(t, image), "-cert", cert, "-key", key)
	var connections []http.RoundTripper
	seen := func(protocol string, through http.RoundTripper) time.Time {
		t.Helper()
		res, err := (&http.Client{Transport: through, Timeout: edgetest.Patience}).Get(e.url("/"))
		if err != nil {
			t.Fatalf("%s: %v", protocol, err)
		}
		_, _ = io.Copy(io.Discard, res.Body) // otherwise HTTP/1.1 closes the connection
		res.Body.Close()
		return res.TLS.PeerCertificates[0].NotAfter
	}
	fresh := func(protocol string) http.RoundTripper {
		return e.clientWith(protocol, &tls.Config{InsecureSkipVerify: true}).Transport
	}
	for _, p := range protocols {
		connections = append(connections, fresh(p))
		seen(p, connections[len(connections)-1])
	}
	ends := time.Now().Add(100 * 24 * time.Hour).UTC().Truncate(time.Second)
	writeCertificate(t, dir, ends, "a.example")
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for i, p := range protocols {
		edgetest.Eventually(t, p+" shows the new certificate", func() bool { return seen(p, fresh(p)).Equal(ends) })
		if seen(p, connections[i]).Equal(ends) {
			t.Errorf("%s: the connection before it is gone", p)
		}
	}
}

// A certificate that has ended, or is for another name, is said at the start, and health is not ok.
func TestBadCertificateIsSeen(t *testing.T) {
	for name, tc := range map[string]struct {
		ends time.Time
		host string
		want string
	}{
		"ended":        {time.Now().Add(-time.Hour), "a.example", "ended on"},
		"another name": {time.Now().Add(50 * time.Hour), "b.example", "no certificate is for b.example"},
	} {
		t.Run(name, func(t *testing.T) {
			cert, key := writeCertificate(t, t.TempDir(), tc.ends, "a.example")
			socket := filepath.Join(t.TempDir(), "health")
			e, _ := startInside(t, edgetest.StartUpstream(t, image), "-cert", cert, "-key", key, "-host", tc.host, "-health", "unix:"+socket)
			if !strings.Contains(e.stderr.String(), tc.want) {
				t.Errorf("said %q", e.stderr)
			}
			status, h := healthOf(t, socket)
			if status != http.StatusServiceUnavailable || !slices.ContainsFunc(h.Problems, func(p string) bool { return strings.Contains(p, tc.want) }) {
				t.Errorf("%d %+v", status, h)
			}
			if want := int(time.Until(tc.ends).Hours()) / 24; len(h.Certificates) != 1 || h.Certificates[0].Names != "a.example" || tc.ends.After(time.Now()) && h.Certificates[0].DaysLeft != want {
				t.Errorf("%+v", h.Certificates)
			}
		})
	}
}
