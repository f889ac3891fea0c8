// Package trace writes the connections' congestion windows over time into a file, for looking into the transports. It is not for serving
// visitors. Of this module it imports connpath and errorlog.
package trace

import (
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
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		lines := json.NewEncoder(file)
		r.Each(ctx, interval, func(c *connpath.Connection, now time.Time) {
			r, ok := c.Read()
			if !ok || !c.Answering() || ctx.Err() != nil {
				return
			}
			err := lines.Encode(point{
				ConnectionID: c.ID(), Transport: c.Transport, AtMs: now.UnixMilli(),
				RTTMs: float64(r.RTT.Microseconds()) / 1000, CongestionWindowBytes: r.CongestionWindowBytes(), BytesSent: r.BytesSent,
			})
			if err != nil {
				log.Logger("trace").Printf("nothing more is written: %v", err)
				stop()
			}
		})
	}, nil
}
