// Package giveback gives memory back to the system after an attack. It imports only the standard library.
package giveback

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"
)

const (
	interval = 10 * time.Second
	// What the runtime may keep without a collection. Below it nobody misses the memory.
	kept = 32 << 20
)

// Run gives memory back until ctx ends.
//
// The runtime collects when its heap has doubled, which never happens after a burst has passed: then it collects after two
// minutes only, and gives the pages back slowly. A memory limit would not help, because it acts while memory is scarce. So Run
// collects by itself when the program holds much more than after the last time, and nothing has collected for an interval.
func Run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	var last, left usage
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			now := read()
			if due(now, last, left) {
				debug.FreeOSMemory()
				now = read()
				left = now
			}
			last = now
		}
	}
}

// usage is what the runtime says about itself.
type usage struct {
	held        uint64 // bytes that the system has given, and not got back
	collections uint32
}

func read() usage {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return usage{held: stats.Sys - stats.HeapReleased, collections: stats.NumGC}
}

// due says whether memory should be given back now. last is how it was at the last look, left after memory was last given back.
func due(now, last, left usage) bool {
	return now.collections == last.collections && now.held > left.held+kept
}
