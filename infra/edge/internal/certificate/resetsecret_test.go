package certificate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResetSecret(t *testing.T) {
	secretOf := func(dir string) [32]byte {
		t.Helper()
		secret, err := ResetSecret(dir)
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	dir := filepath.Join(t.TempDir(), "new", "state")
	first := secretOf(dir)
	if first == ([32]byte{}) || first == secretOf(t.TempDir()) {
		t.Error("it is no secret")
	}
	if secretOf(dir) != first {
		t.Error("two starts have two secrets")
	}
	if info, err := os.Stat(filepath.Join(dir, resetSecretFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v", info, err)
	}
	overwrite(t, dir, resetSecretFile)
	if another := secretOf(dir); another == first || another != secretOf(dir) {
		t.Error("a damaged file is not replaced")
	}
}

// The edge serves without a kept secret: only resets after a restart are lost.
func TestResetSecretThatCannotBeKept(t *testing.T) {
	dir := t.TempDir()
	overwrite(t, dir, "file")
	state := filepath.Join(dir, "file", "state")
	secret, err := ResetSecret(state)
	if err == nil || !strings.Contains(err.Error(), state) || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("%v", err)
	}
	if another, _ := ResetSecret(state); secret == ([32]byte{}) || secret == another {
		t.Error("it is no secret")
	}
}
