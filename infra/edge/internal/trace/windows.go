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

// Windows begins a new file at path, and returns what writes the state of every connection that answers requests into it, a line each
// every 50 ms, until ctx ends, or the file takes no more. The file grows as long as there are such connections. The error names trace.
func Windows(path string, r *connpath.Registry, log *errorlog.Log) (write func(ctx context.Context), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("flag -trace: %w", err)
	}
	return func(ctx context.Context) {
		defer file.Close()
		out := bufio.NewWriter(file)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case now := <-ticker.C:
				if err := scan(out, r.Snapshot(), now); err != nil {
					log.Logger("trace").Printf("nothing more is written: %v", err)
					return
				}
			}
		}
	}, nil
}

// scan writes a line for each connection, and flushes them together, so that a reader sees whole scans.
func scan(out *bufio.Writer, connections []*connpath.Connection, now time.Time) error {
	lines := json.NewEncoder(out)
	for _, c := range connections {
		if r, ok := c.Read(); ok && c.Answering() {
			// The writer keeps its first error, and Flush gives it.
			_ = lines.Encode(point{
				ConnectionID: c.ID(), Transport: c.Transport, AtMs: now.UnixMilli(),
				RTTMs: float64(r.RTT.Microseconds()) / 1000, CongestionWindowBytes: r.CongestionWindowBytes(), BytesSent: r.BytesSent,
			})
		}
	}
	return out.Flush()
}
