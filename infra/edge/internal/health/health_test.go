package health

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// A socket that a killed edge left behind goes; a file that -health names by mistake stays.
func TestRemoveSocket(t *testing.T) {
	folder := t.TempDir()
	socket, file := filepath.Join(folder, "socket"), filepath.Join(folder, "file")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	ln.Close()
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeSocket(socket); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(socket); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	if err := removeSocket(file); err == nil {
		t.Error("a file is removed")
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "kept" {
		t.Errorf("%q, %v", text, err)
	}
	if err := removeSocket(filepath.Join(folder, "none")); err != nil {
		t.Errorf("nothing there: %v", err)
	}
}
