package main

import (
	"context"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/forge"
)

// A flood of forged Initials makes no more state than the limit, visitors still come, and afterwards nothing is left.
func TestForgedInitials(t *testing.T) {
	const limit = 20
	e, inside := startInside(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {}), "-retry-above", "20")
	flood, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	done := make(chan error, 1)
	sent := 0
	go func() {
		var err error
		sent, err = forge.Flood(flood, netip.MustParseAddrPort(e.addresses[0]), 1000)
		done <- err
	}()
	edgetest.Eventually(t, "the switch to Retry", func() bool { _, _, asking := inside.handshakes.Counts(); return asking })
	for range 3 {
		e.get(e.client("HTTP/3"), "/")
		if _, unproven, _ := inside.handshakes.Counts(); unproven > limit {
			t.Errorf("%d handshakes without a proof", unproven)
		}
	}
	if err := edgetest.Receive(t, "end of the flood", done); err != nil || sent < 10*limit {
		t.Fatalf("%d sent, %v", sent, err)
	}
	edgetest.Eventually(t, "the end of the forged handshakes", func() bool {
		total, unproven, _ := inside.handshakes.Counts()
		return total == 0 && unproven == 0
	})
	e.get(e.client("HTTP/3"), "/")
	if _, _, asking := inside.handshakes.Counts(); asking {
		t.Error("clients still have to prove their addresses")
	}
}
