package operator

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A server that takes connections, and says nothing, holds nobody up.
func TestSilentServer(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0") // the kernel answers for it
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := dialTCP(ctx, ln.Addr().(*net.TCPAddr).AddrPort(), &x509.Certificate{})
		done <- err
	}()
	if err := edgetest.Receive(t, "end of the handshake", done); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
