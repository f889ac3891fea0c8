package load

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/k6/session"
)

// Readings are what the timed session cost, and what the emulated network path counted meanwhile, over both directions. What
// cannot be read is null: no reading ever costs a load.
type Readings struct {
	EdgeCPU   session.Ms `json:"edgeCpuMs"`
	ClientCPU session.Ms `json:"clientCpuMs"`
	// The share of the forwarded packets that left later than they should.
	LateRatio    *float64 `json:"lateRatio"`
	DroppedLoss  *int64   `json:"droppedLoss"`
	DroppedQueue *int64   `json:"droppedQueue"`
	DroppedFault *int64   `json:"droppedFault"`
}

// counters are what was counted right before the timed session; nil is unknown.
type counters struct {
	path      map[string]int64
	edge, own *time.Duration
}

// readBefore reads the path first, and since reads it last: asking for it is none of the session's CPU time.
func readBefore(ctx context.Context, spec Spec) counters {
	return counters{readPath(ctx, spec.Control), cpuTime(spec.EdgePids...), cpuTime(os.Getpid())}
}

func (c counters) since(ctx context.Context, spec Spec) (r Readings) {
	r.EdgeCPU, r.ClientCPU = between(c.edge, cpuTime(spec.EdgePids...)), between(c.own, cpuTime(os.Getpid()))
	after := readPath(ctx, spec.Control)
	if c.path == nil || after == nil {
		return r
	}
	counted := func(names ...string) *int64 {
		var sum int64
		for _, name := range names {
			sum += after[name] - c.path[name]
		}
		return &sum
	}
	if forwarded := counted("forwardedPackets"); *forwarded > 0 {
		ratio := float64(*counted("latePackets")) / float64(*forwarded)
		r.LateRatio = &ratio
	}
	r.DroppedLoss, r.DroppedQueue = counted("droppedLoss"), counted("droppedQueue")
	r.DroppedFault = counted("droppedMemory", "droppedWrite", "droppedDevice")
	return r
}

func between(before, after *time.Duration) session.Ms {
	if before == nil || after == nil {
		return 0
	}
	return session.MsOf(*after - *before)
}

// cpuTime gives the CPU time, user and system, that these processes have used so far; nil where there are none, or one of
// them cannot be read. The id of a process's clock is made as the kernel's MAKE_PROCESS_CPUCLOCK does
// (include/linux/posix-timers.h): the inverted pid, three bits up, and CPUCLOCK_SCHED, which is 2.
func cpuTime(pids ...int) *time.Duration {
	var sum time.Duration
	for _, pid := range pids {
		var used unix.Timespec
		if err := unix.ClockGettime(int32(^pid<<3|2), &used); err != nil {
			return nil
		}
		sum += time.Duration(used.Nano())
	}
	if len(pids) == 0 {
		return nil
	}
	return &sum
}

// controlTimeout bounds an answer of the path's control socket, which is on this machine.
const controlTimeout = 2 * time.Second

// readPath asks netpath's control socket for its counters, and adds up both directions.
func readPath(ctx context.Context, control string) map[string]int64 {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", control)
	if err != nil {
		return nil
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(controlTimeout))
	var answer struct{ Stats map[string]map[string]int64 }
	if _, err := conn.Write([]byte("{\"stats\":true}\n")); err != nil {
		return nil
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil || answer.Stats == nil {
		return nil
	}
	sum := map[string]int64{}
	for _, direction := range answer.Stats {
		for name, n := range direction {
			sum[name] += n
		}
	}
	return sum
}
