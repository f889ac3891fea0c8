package quicserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"testing"

	"github.com/quic-go/quic-go"

	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/errorlog"
)

// begun begins a handshake from an address, and returns what ends it.
func begun(t *testing.T, h *Handshakes, ip string, verified bool) (end func(), err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	info := &quic.ClientInfo{RemoteAddr: &net.UDPAddr{IP: net.ParseIP(ip), Port: 1}, AddrVerified: verified}
	_, err = h.begin(ctx, info)
	return cancel, err
}

func (h *Handshakes) expect(t *testing.T, total, unproven int) {
	t.Helper()
	edgetest.Eventually(t, "the count", func() bool {
		gotTotal, gotUnproven, _ := h.Counts()
		return gotTotal == total && gotUnproven == unproven
	})
}

// Proofs are asked for from the limit on, and down to half of it.
func TestRetrySwitchesItselfOnAndOff(t *testing.T) {
	h := NewHandshakes(HandshakeLimits{Unproven: 4, Total: 100}, errorlog.New(io.Discard))
	var ends []func()
	for i := range 4 {
		if h.asksForProof(nil) {
			t.Fatalf("a proof is asked for after %d", i)
		}
		end, err := begun(t, h, "192.0.2.1", false)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	for left := 4; left > 2; left-- {
		h.expect(t, left, left)
		if !h.asksForProof(nil) {
			t.Errorf("no proof is asked for while %d are left", left)
		}
		ends[left-1]()
	}
	h.expect(t, 2, 2)
	if h.asksForProof(nil) {
		t.Error("proofs are still asked for")
	}
}

func TestRetryAlways(t *testing.T) {
	if h := NewHandshakes(HandshakeLimits{Unproven: 4, Total: 100, Always: true}, errorlog.New(io.Discard)); !h.asksForProof(nil) {
		t.Error("no proof is asked for")
	}
}

// A client that proved its address gets no more than a share; all together get no more than the total.
func TestHandshakesAreBounded(t *testing.T) {
	h := NewHandshakes(HandshakeLimits{Unproven: 4, Total: 8}, errorlog.New(io.Discard))
	var ends []func()
	begin := func(ip string, verified bool, want error) {
		t.Helper()
		end, err := begun(t, h, ip, verified)
		if !errors.Is(err, want) {
			t.Fatalf("%s: %v, want %v", ip, err, want)
		}
		ends = append(ends, end)
	}
	begin("2001:db8::1", true, nil)
	begin("2001:db8::2", true, nil)
	begin("2001:db8::3", true, errClientHandshakes) // the same /64
	for range 4 {
		begin("192.0.2.1", false, nil)
	}
	begin("192.0.2.1", true, nil)
	begin("192.0.2.2", true, nil)
	begin("192.0.2.3", true, errHandshakes)
	begin("192.0.2.3", false, errHandshakes)
	h.expect(t, 8, 4)
	for _, end := range ends {
		end()
	}
	h.expect(t, 0, 0)
	if !reflect.DeepEqual(h.proven, admission.NewTally()) {
		t.Errorf("some are left: %v", h.proven)
	}
}

// A network gets no more than its share, whatever clients it asks from, and leaves the rest to others.
func TestHandshakesOfANetwork(t *testing.T) {
	h := NewHandshakes(HandshakeLimits{Unproven: 4, Total: 8}, errorlog.New(io.Discard))
	for i, want := range []error{nil, nil, nil, nil, errClientHandshakes, errClientHandshakes} {
		end, err := begun(t, h, fmt.Sprintf("2001:db8:0:%d::1", i), true)
		if !errors.Is(err, want) {
			t.Errorf("/64 number %d: %v, want %v", i, err, want)
		}
		defer end()
	}
	for _, other := range []string{"2001:db8:1::1", "192.0.2.1", "192.0.2.2", "192.0.2.3"} {
		end, err := begun(t, h, other, true)
		if err != nil {
			t.Errorf("%s: %v", other, err)
		}
		defer end()
	}
}

// A handshake counts once, whether it is complete or its connection ends first.
func TestHandshakeEndsOnce(t *testing.T) {
	h := NewHandshakes(HandshakeLimits{Unproven: 4, Total: 8}, errorlog.New(io.Discard))
	ctx, cancel := context.WithCancel(t.Context())
	ctx, err := h.begin(ctx, &quic.ClientInfo{RemoteAddr: &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1)}})
	if err != nil {
		t.Fatal(err)
	}
	end := ctx.Value(handshakeKey{}).(func())
	end()
	end()
	cancel()
	end()
	h.expect(t, 0, 0)
}
