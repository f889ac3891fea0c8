// Package trace writes the connections' congestion windows over time into a file, for looking into the transports. It is not for serving
// visitors. Of this module it imports connpath and errorlog.
package trace

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/errorlog"
)

// interval is shorter than the RTT of those paths whose windows are interesting.
const interval = 50 * time.Millisecond

// point is one line of a trace. Connections are named as in path samples; there is no address.
type point struct {
	ConnectionID          string             `json:"connectionId"`
	Transport             connpath.Transport `json:"transport"`
	AtMs                  int64              `json:"atMs"` // Unix time
	RTTMs                 float64            `json:"rttMs"`
	CongestionWindowBytes uint64             `json:"congestionWindowBytes"`
	BytesSent             uint64             `json:"bytesSent"`
}

// Windows writes the state of every connection that answers requests into a file, again and again. The file grows as long
// as there are such connections.
type Windows struct {
	registry *connpath.Registry
	file     *os.File
	out      *bufio.Writer
	log      *errorlog.Log
	buf      []*connpath.Connection
}

// NewWindows begins a new file at path. Its error names the flag -trace.
func NewWindows(path string, r *connpath.Registry, log *errorlog.Log) (*Windows, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("flag -trace: %w", err)
	}
	return &Windows{registry: r, file: file, out: bufio.NewWriter(file), log: log}, nil
}

// Run writes a line for each connection every 50 ms, until ctx ends, or the file takes no more.
func (t *Windows) Run(ctx context.Context) {
	defer t.file.Close()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if err := t.scan(now); err != nil {
				t.log.Logger("trace").Printf("nothing more is written: %v", err)
				return
			}
		}
	}
}

// scan writes a line for each connection, and flushes them together, so that a reader sees whole scans.
func (t *Windows) scan(now time.Time) error {
	t.buf = t.registry.Snapshot(t.buf[:0])
	lines := json.NewEncoder(t.out)
	for _, c := range t.buf {
		if !c.Answering() {
			continue
		}
		r, ok := c.Read()
		if !ok {
			continue
		}
		// The writer keeps its first error, and Flush gives it.
		_ = lines.Encode(point{
			ConnectionID: c.ID(), Transport: c.Transport, AtMs: now.UnixMilli(),
			RTTMs: float64(r.RTT.Microseconds()) / 1000, CongestionWindowBytes: r.CongestionWindowBytes(), BytesSent: r.BytesSent,
		})
	}
	clear(t.buf) // so that it keeps no closed connections in memory
	return t.out.Flush()
}
