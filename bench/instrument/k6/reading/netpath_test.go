package reading

import (
	"bufio"
	"net"
	"path/filepath"
	"testing"
)

const counters = `{"ok":true,"stats":{` +
	`"aToB":{"forwardedPackets":100,"latePackets":3,"droppedLoss":5,"droppedBurst":1,"droppedQueue":2,"droppedMemory":1,"droppedWrite":0,"droppedDevice":4},` +
	`"bToA":{"forwardedPackets":50,"latePackets":1,"droppedLoss":2,"droppedBurst":0,"droppedQueue":0}}}`

func TestReadPath(t *testing.T) {
	control := filepath.Join(t.TempDir(), "control.sock")
	listener, err := net.Listen("unix", control)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	asked := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		line, _ := bufio.NewReader(conn).ReadString('\n')
		asked <- line
		_, _ = conn.Write([]byte(counters + "\n"))
		_ = conn.Close()
	}()
	path, err := ReadPath(t.Context(), control)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "{\"stats\":true}\n" {
		t.Errorf("it asked %q", got)
	}
	if path.Forwarded != 150 || *path.Late != 4 || path.DroppedLoss != 8 || path.DroppedQueue != 2 || path.DroppedFault != 5 {
		t.Errorf("%+v", path)
	}
	if _, err := ReadPath(t.Context(), control+".none"); err == nil {
		t.Error("a socket that is not there")
	}
}

func TestParsePathOfBadAnswers(t *testing.T) {
	for _, line := range []string{``, `{}`, `{"ok":false,"error":"no"}`, `{"ok":true}`, `{"ok":true,"stats":{"aToB":{}}}`} {
		if path, err := parsePath([]byte(line)); err == nil {
			t.Errorf("%q: %+v", line, path)
		}
	}
}

func TestPathSince(t *testing.T) {
	late := func(n int64) *int64 { return &n }
	before, after := Path{100, late(1), 5, 2, 0}, Path{300, late(11), 9, 2, 0}
	got := after.Since(before)
	if got.Forwarded != 200 || *got.Late != 10 || got.DroppedLoss != 4 || got.DroppedQueue != 0 || *got.LateRatio() != 0.05 {
		t.Errorf("%+v", got)
	}
	before.Late = nil
	if got := after.Since(before); got.Late != nil || got.LateRatio() != nil {
		t.Errorf("lateness that was not known: %+v", got)
	}
	if got := after.Since(after); got.LateRatio() != nil {
		t.Errorf("no packet: %v", *got.LateRatio())
	}
}
