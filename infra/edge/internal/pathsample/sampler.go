package pathsample

import (
	"context"
	"time"

	"adaptive-h3/infra/edge/internal/visitor"
)

const (
	// An open connection is sampled this long after its last sample (or its beginning) if it has sent anything since.
	// The one rule gives both a sample after 5 s of rest, and at most one in 5 s while it sends.
	interval     = 5 * time.Second
	scanInterval = 500 * time.Millisecond
)

// Sampler takes samples of a registry's connections.
type Sampler struct {
	registry *visitor.Registry
	emit     func(Sample)
	buf      []*visitor.Connection
}

// NewSampler makes a sampler that gives its samples to emit, which must not block.
func NewSampler(r *visitor.Registry, emit func(Sample)) *Sampler {
	return &Sampler{registry: r, emit: emit}
}

// Run scans until ctx ends: one goroutine for all connections.
func (s *Sampler) Run(ctx context.Context) {
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

// scan samples the connections that are due.
func (s *Sampler) scan(now time.Time) {
	s.buf = s.registry.Snapshot(s.buf[:0])
	for _, c := range s.buf {
		sent := c.Sent.Load()
		if !c.Sampled() || sent == c.SampledSent || now.Sub(c.SampledAt) < interval {
			continue
		}
		if sample, ok := New(c, now, false); ok {
			c.SampledAt, c.SampledSent = now, sent
			s.emit(sample)
		}
	}
	clear(s.buf) // so that it keeps no closed connections in memory
}

// Closing samples a connection at its end, while its statistics can still be read.
func (s *Sampler) Closing(c *visitor.Connection, now time.Time) {
	if !c.Sampled() {
		return
	}
	if sample, ok := New(c, now, true); ok {
		s.emit(sample)
	}
}
