package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/certificate"
)

func TestFolderThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// A file where a folder is wanted: also root, who may write anywhere, cannot use it.
	got := runStart(t, "-state", filepath.Join(file, "state"))
	for _, s := range []string{filepath.Join(file, "state"), "not a directory", "choose another with -state"} {
		if !strings.Contains(got, s) {
			t.Errorf("%q does not say %q", got, s)
		}
	}
}

// Files that are damaged, missing, or do not belong together.
func TestGivenCertificateIsBad(t *testing.T) {
	dir := t.TempDir()
	if _, err := certificate.Load(certificate.Options{StateDir: dir}, time.Now()); err != nil {
		t.Fatal(err)
	}
	certFile, keyFile := filepath.Join(dir, "dev-cert.pem"), filepath.Join(dir, "dev-key.pem")
	if text := runStart(t, "-cert", keyFile, "-key", certFile); !strings.Contains(text, "-cert and -key") {
		t.Error(text)
	}
	if text := runStart(t, "-cert", certFile, "-key", filepath.Join(dir, "none")); !strings.Contains(text, "no such file") {
		t.Error(text)
	}
}
