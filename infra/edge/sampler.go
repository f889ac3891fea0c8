package main

import (
	"context"
	"net/netip"
	"time"
)

// pathSample is one reading of one connection, as it is posted: addresses travel in bodies only.
type pathSample struct {
	ClientAddress netip.Addr `json:"clientAddress"`
	Transport     transport  `json:"transport"`
	ConnectionID  string     `json:"connectionId"`
	AtMs          int64      `json:"atMs"` // Unix time
	measured
	Closing bool `json:"closing"`
}

const (
	// An open connection is sampled this long after its last sample (or its beginning) if it has sent anything since.
	// The one rule gives both a sample after 5 s of rest, and at most one in 5 s while it sends.
	sampleInterval = 5 * time.Second
	scanInterval   = 500 * time.Millisecond
)

// sampler takes samples of the registry's connections and gives them to emit, which must not block.
type sampler struct {
	registry *registry
	emit     func(pathSample)
	buf      []*connection
}

// run scans until ctx ends: one goroutine for all connections.
func (s *sampler) run(ctx context.Context) {
	ticker := time.NewTicker(scanInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			s.scan(now)
		}
	}
}

// scan samples the connections whose turn it is.
func (s *sampler) scan(now time.Time) {
	s.buf = s.registry.snapshot(s.buf[:0])
	for _, c := range s.buf {
		sent := c.sent.Load()
		if !c.sampled() || sent == c.sampledSent || now.Sub(c.sampledAt) < sampleInterval {
			continue
		}
		if sample, ok := newPathSample(c, now, false); ok {
			c.sampledAt, c.sampledSent = now, sent
			s.emit(sample)
		}
	}
	clear(s.buf) // closed connections must not be kept by it
}

// closing samples a connection at its end, while its statistics can still be read.
func (s *sampler) closing(c *connection, now time.Time) {
	if !c.sampled() {
		return
	}
	if sample, ok := newPathSample(c, now, true); ok {
		s.emit(sample)
	}
}

func newPathSample(c *connection, now time.Time, closing bool) (pathSample, bool) {
	r, ok := c.read()
	client := c.client()
	if !ok || !client.IsValid() {
		return pathSample{}, false
	}
	return pathSample{
		ClientAddress: client, Transport: c.transport, ConnectionID: c.id,
		AtMs: now.UnixMilli(), measured: newMeasured(r), Closing: closing,
	}, true
}
