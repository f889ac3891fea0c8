package main

import (
	"net/http"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// Over a path of a known rate the reported one is near it, and so within reach of what the path carried.
func TestRateOverLimitedPath(t *testing.T) {
	const size, rate = 2_000_000, 2e6
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { w.Write(edgetest.Pattern(size)) }))
	relay := startRelay(t, e.addresses[0], &udpRelay{delay: 20 * ms, rate: rate, queue: 100_000})
	c := e.client("HTTP/3", relay.address)
	e.get(c, "/")
	c.disconnect()
	s := edgetest.Receive(t, "closing sample", e.samples)
	// What the path carries includes QUIC's own bytes; the bucket of the relay hands out a few packets at once.
	if s.DeliveryRateBps < 0.6*rate || s.DeliveryRateBps > 1.15*rate {
		t.Errorf("reported %.0f bytes/s over a path of %.0f", s.DeliveryRateBps, rate)
	}
	if s.RTTMs < 20 || s.MinRTTMs < 20 || s.MinRTTMs > 60 {
		t.Errorf("RTT %v, min %v over a path of 20 ms", s.RTTMs, s.MinRTTMs)
	}
}

// An upstream that gives little at a time is the limit itself: nothing is known of the path.
func TestNoRateWithSlowUpstream(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		for range 20 {
			w.Write(edgetest.Pattern(10_000))
			http.NewResponseController(w).Flush()
			time.Sleep(10 * ms) // it is slow: that is the case
		}
	}))
	relay := startRelay(t, e.addresses[0], &udpRelay{delay: 5 * ms})
	c := e.client("HTTP/3", relay.address)
	e.get(c, "/")
	c.disconnect()
	if s := edgetest.Receive(t, "closing sample", e.samples); s.DeliveryRateBps != 0 || s.BytesSent < 200_000 {
		t.Errorf("%+v", s)
	}
}
