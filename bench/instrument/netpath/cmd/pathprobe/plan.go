package main

import (
	"math/rand/v2"
	"slices"
)

// planned is one packet to send: when, since the start, and of how many IP bytes.
type planned struct {
	dueNs int64
	size  int32
	probe bool // measured; the others are load
}

// evenly spaced packets of a rate, over a time.
func evenly(packets int, gapNs float64, size int, probe bool) []planned {
	plan := make([]planned, packets)
	for i := range plan {
		plan[i] = planned{int64(float64(i) * gapNs), int32(size), probe}
	}
	return plan
}

// poisson spaces probes by exponential gaps: they see the time average of the queue (PASTA), which evenly spaced
// ones, in step with the load, need not.
func poisson(packets int, meanGapNs float64, size int, seed uint64) []planned {
	random := rand.New(rand.NewPCG(seed, 1))
	plan := make([]planned, packets)
	at := 0.0
	for i := range plan {
		at += random.ExpFloat64() * meanGapNs
		plan[i] = planned{int64(at), int32(size), true}
	}
	return plan
}

func merge(a, b []planned) []planned {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y planned) int { return int(x.dueNs - y.dueNs) })
	return all
}

// gapNs is the time between packets of a size at a rate.
func gapNs(size int, rateMbps float64) float64 { return float64(size) * 8e3 / rateMbps }
