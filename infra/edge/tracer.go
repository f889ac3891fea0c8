package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// traceInterval is shorter than the RTT of the paths on which a window is worth looking at.
const traceInterval = 50 * time.Millisecond

// tracePoint is one line of a trace. Connections are named as in path samples; there is no address.
type tracePoint struct {
	ConnectionID          string    `json:"connectionId"`
	Transport             transport `json:"transport"`
	AtMs                  int64     `json:"atMs"` // Unix time
	RTTMs                 float64   `json:"rttMs"`
	CongestionWindowBytes uint64    `json:"congestionWindowBytes"`
	BytesSent             uint64    `json:"bytesSent"`
}

// tracer writes what every connection that answers requests is at, again and again: for looking into the transports, not
// for serving. The file grows as long as there are any.
type tracer struct {
	registry *registry
	file     *os.File
	out      *bufio.Writer
	log      *reporter
	buf      []*connection
}

// newTracer begins a new file. Its error names the flag.
func newTracer(path string, r *registry, log *reporter) (*tracer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("flag -trace: %w", err)
	}
	return &tracer{registry: r, file: file, out: bufio.NewWriter(file), log: log}, nil
}

// run writes until ctx ends, or the file takes no more.
func (t *tracer) run(ctx context.Context) {
	defer t.file.Close()
	ticker := time.NewTicker(traceInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if err := t.scan(now); err != nil {
				t.log.logger("trace").Printf("nothing more is written: %v", err)
				return
			}
		}
	}
}

// scan writes a line for each connection, and all of them at once: a reader never waits for the next.
func (t *tracer) scan(now time.Time) error {
	t.buf = t.registry.snapshot(t.buf[:0])
	lines := json.NewEncoder(t.out)
	for _, c := range t.buf {
		if !c.answering.Load() {
			continue
		}
		r, ok := c.read()
		if !ok {
			continue
		}
		// The writer keeps its first error, and Flush gives it.
		_ = lines.Encode(tracePoint{
			ConnectionID: c.id, Transport: c.transport, AtMs: now.UnixMilli(),
			RTTMs: milliseconds(r.rtt), CongestionWindowBytes: r.congestionWinBytes(), BytesSent: r.bytesSent,
		})
	}
	clear(t.buf) // closed connections must not be kept by it
	return t.out.Flush()
}
