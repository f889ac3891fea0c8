package reading

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"
)

// Path is what the emulated network path counted, over both directions. Late is nil where it does not know.
type Path struct {
	Forwarded    int64
	Late         *int64
	DroppedLoss  int64 // by the emulated loss, single packets and bursts
	DroppedQueue int64 // by a full queue
	DroppedFault int64 // by the emulator's own fault: no memory, a failed write, a device that was not read in time
}

type direction struct {
	ForwardedPackets int64  `json:"forwardedPackets"`
	LatePackets      *int64 `json:"latePackets"`
	DroppedLoss      int64  `json:"droppedLoss"`
	DroppedBurst     int64  `json:"droppedBurst"`
	DroppedQueue     int64  `json:"droppedQueue"`
	DroppedMemory    int64  `json:"droppedMemory"`
	DroppedWrite     int64  `json:"droppedWrite"`
	DroppedDevice    int64  `json:"droppedDevice"`
}

func (d *direction) fault() int64 {
	return d.DroppedMemory + d.DroppedWrite + d.DroppedDevice
}

// controlTimeout bounds an answer of the path's control socket, which is on this machine.
const controlTimeout = 2 * time.Second

// ReadPath asks the control socket for the counters.
func ReadPath(ctx context.Context, control string) (Path, error) {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", control)
	if err != nil {
		return Path{}, fmt.Errorf("network path: %w", err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := conn.Write([]byte("{\"stats\":true}\n")); err != nil {
		return Path{}, fmt.Errorf("network path: %w", err)
	}
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		return Path{}, fmt.Errorf("network path: %w", err)
	}
	return parsePath(line)
}

func parsePath(line []byte) (Path, error) {
	var answer struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
		Stats *struct {
			AToB *direction `json:"aToB"`
			BToA *direction `json:"bToA"`
		} `json:"stats"`
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return Path{}, fmt.Errorf("network path: %w", err)
	}
	if !answer.OK || answer.Stats == nil || answer.Stats.AToB == nil || answer.Stats.BToA == nil {
		return Path{}, errors.New("network path: no counters in the answer: " + answer.Error)
	}
	a, b := answer.Stats.AToB, answer.Stats.BToA
	path := Path{
		Forwarded:    a.ForwardedPackets + b.ForwardedPackets,
		DroppedLoss:  a.DroppedLoss + a.DroppedBurst + b.DroppedLoss + b.DroppedBurst,
		DroppedQueue: a.DroppedQueue + b.DroppedQueue,
		DroppedFault: a.fault() + b.fault(),
	}
	if a.LatePackets != nil && b.LatePackets != nil {
		late := *a.LatePackets + *b.LatePackets
		path.Late = &late
	}
	return path, nil
}

// Since gives what was counted after an earlier reading.
func (p Path) Since(earlier Path) Path {
	p.Forwarded -= earlier.Forwarded
	p.DroppedLoss -= earlier.DroppedLoss
	p.DroppedQueue -= earlier.DroppedQueue
	p.DroppedFault -= earlier.DroppedFault
	if p.Late != nil && earlier.Late != nil {
		late := *p.Late - *earlier.Late
		p.Late = &late
	} else {
		p.Late = nil
	}
	return p
}

// LateRatio is the share of the forwarded packets that left later than they should; nil where it is not known.
func (p Path) LateRatio() *float64 {
	if p.Late == nil || p.Forwarded <= 0 {
		return nil
	}
	ratio := float64(*p.Late) / float64(p.Forwarded)
	return &ratio
}
