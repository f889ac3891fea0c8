package operator

import (
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// Where the process may open nothing more, one client after the other is answered all the same.
func TestAnswersWithoutDescriptors(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	ln, err := listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var clients []net.Conn
	for range 3 { // they wait in the listener's queue
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	edgetest.LeaveNoDescriptor(t)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "well") })}
	server.SetKeepAlivesEnabled(false)
	go server.Serve(ln)
	defer server.Close()
	for i, c := range clients {
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.WriteString(c, "GET / HTTP/1.0\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(c); err != nil || len(answer) == 0 {
			t.Errorf("client %d: %q, %v", i, answer, err)
		}
	}
}
