package main

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A flood of handshakes that nobody continues makes no more state than the limit, visitors still come, and afterwards nothing is left.
func TestFloodOfHandshakes(t *testing.T) {
	const limit = 20
	e, inside := startInside(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {}), "-config", "retry-above=20")
	flood, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	var attackers sync.WaitGroup
	for range 10 * limit {
		socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		// Who does not hear the answers does not go on with the handshake.
		from := &deafConn{PacketConn: socket}
		from.deaf.Store(true)
		attacker := &quic.Transport{Conn: from}
		t.Cleanup(func() { attacker.Close(); socket.Close() })
		attackers.Go(func() {
			_, _ = attacker.Dial(flood, net.UDPAddrFromAddrPort(netip.MustParseAddrPort(e.addresses[0])), http3Config(e), nil)
		})
	}
	edgetest.Eventually(t, "the switch to Retry", func() bool { _, _, asking := inside.handshakes.Counts(); return asking })
	for range 3 {
		e.get(e.client("HTTP/3"), "/")
		if _, unproven, _ := inside.handshakes.Counts(); unproven > limit {
			t.Errorf("%d handshakes without a proof", unproven)
		}
	}
	attackers.Wait()
	edgetest.Eventually(t, "the end of the forged handshakes", func() bool {
		total, unproven, _ := inside.handshakes.Counts()
		return total == 0 && unproven == 0
	})
	e.get(e.client("HTTP/3"), "/")
	if _, _, asking := inside.handshakes.Counts(); asking {
		t.Error("clients still have to prove their addresses")
	}
}
