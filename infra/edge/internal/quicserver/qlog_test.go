package quicserver

import (
	"io"
	"testing"

	"github.com/quic-go/quic-go"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/errorlog"
)

// Who asks for a recorder after the connection's end gets none, and no wrapping of none: http3 asks in a goroutine of its own.
func TestQlogAfterTheEnd(t *testing.T) {
	trace := qlogs(t.TempDir(), errorlog.New(io.Discard, "", ""))(t.Context(), false, quic.ConnectionIDFromBytes([]byte{1, 2, 3, 4}))
	trace.AddProducer().Close()
	edgetest.Eventually(t, "the trace ends", func() bool { return trace.AddProducer() == nil })
}
