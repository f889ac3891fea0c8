package netem

import (
	"encoding/json"
	"errors"
	"fmt"

	"adaptive-h3/bench/netpath/report"
)

// parseStats reads `tc -s -j qdisc show`. netem counts all drops as one: which were the queue's is unknown, and they
// stand under droppedLoss. How late packets leave is unknown as well. tc's bytes hold the Ethernet header.
func parseStats(text []byte) (report.Direction, error) {
	var disciplines []struct {
		Kind    string `json:"kind"`
		Bytes   uint64 `json:"bytes"`
		Packets uint64 `json:"packets"`
		Drops   uint64 `json:"drops"`
		Backlog int64  `json:"backlog"`
		Length  uint64 `json:"qlen"`
	}
	if err := json.Unmarshal(text, &disciplines); err != nil {
		return report.Direction{}, fmt.Errorf("cannot read what tc counts: %w", err)
	}
	for _, d := range disciplines {
		if d.Kind == "netem" {
			return report.Direction{
				ReceivedPackets: d.Packets + d.Drops + d.Length, ReceivedBytes: d.Bytes + uint64(max(0, d.Backlog)),
				ForwardedPackets: d.Packets, ForwardedBytes: d.Bytes, DroppedLoss: d.Drops, QueuedBytes: d.Backlog,
			}, nil
		}
	}
	return report.Direction{}, errors.New("the router has lost its netem")
}
