package load

import (
	"context"
	"time"

	"adaptive-h3/bench/instrument/k6/reading"
)

// readings are taken right before and right after the timed session. What cannot be read is null: no reading ever costs
// a load.
type readings struct {
	spec  Spec
	busy  *reading.Busy
	began time.Time
	path  *reading.Path
	edge  *time.Duration
	own   *time.Duration
}

func beginReadings(ctx context.Context, spec Spec, busy *reading.Busy) *readings {
	r := &readings{spec: spec, busy: busy}
	r.path = r.readPath(ctx)
	r.edge, r.own = r.readCPU()
	r.began = time.Now()
	return r
}

func (r *readings) end(ctx context.Context, result *Result) {
	edge, own := r.readCPU()
	result.EdgeCPUMs, result.ClientCPUMs = between(r.edge, edge), between(r.own, own)
	if after := r.readPath(ctx); r.path != nil && after != nil {
		counted := after.Since(*r.path)
		result.PathForwarded, result.PathLate, result.LateRatio = &counted.Forwarded, counted.Late, counted.LateRatio()
		result.DroppedLoss, result.DroppedQueue = &counted.DroppedLoss, &counted.DroppedQueue
		result.DroppedFault = &counted.DroppedFault
	}
	if r.busy != nil {
		if ratio, err := r.busy.Ratio(r.began); err == nil {
			result.BusyRatio = &ratio
		}
	}
}

func (r *readings) readPath(ctx context.Context) *reading.Path {
	if r.spec.Control == nil || *r.spec.Control == "" {
		return nil
	}
	path, err := reading.ReadPath(ctx, *r.spec.Control)
	if err != nil {
		return nil
	}
	return &path
}

func (r *readings) readCPU() (edge, own *time.Duration) {
	if used, err := reading.OwnCPUTime(); err == nil {
		own = &used
	}
	return cpuTime(r.spec.EdgePids), own
}

// cpuTime is of all these processes together; nil where there are none, or one of them cannot be read.
func cpuTime(pids []int) *time.Duration {
	if len(pids) == 0 {
		return nil
	}
	var sum time.Duration
	for _, pid := range pids {
		used, err := reading.CPUTime(pid)
		if err != nil {
			return nil
		}
		sum += used
	}
	return &sum
}

func between(before, after *time.Duration) *float64 {
	if before == nil || after == nil {
		return nil
	}
	ms := toMs(*after - *before)
	return &ms
}
