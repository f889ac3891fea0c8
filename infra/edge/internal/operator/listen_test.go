package operator

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// A socket that a killed program left behind goes; a file that a flag names by mistake stays.
func TestListen(t *testing.T) {
	folder := t.TempDir()
	socket, file := filepath.Join(folder, "socket"), filepath.Join(folder, "file")
	left, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{socket, filepath.Join(folder, "none")} {
		ln, err := listen("unix", path)
		if err != nil {
			t.Error(err)
			continue
		}
		ln.Close()
	}
	if ln, err := listen("unix", file); err == nil {
		ln.Close()
		t.Error("it listens in the place of a file")
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
	if ln, err := listen("tcp", "127.0.0.1:0"); err != nil {
		t.Error(err)
	} else {
		ln.Close()
	}
}
