// Package giveback gives memory back to the system after an attack. It imports only the standard library.
package giveback

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
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
	var k keeper
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if k.due(read()) {
				debug.FreeOSMemory()
				k.freed(read())
			}
		}
	}
}

// usage is what the runtime says about itself.
type usage struct {
	held        uint64 // bytes that the system has given, and not got back
	collections uint64
}

func read() usage {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	return usage{held: samples[0].Value.Uint64() - samples[1].Value.Uint64(), collections: samples[2].Value.Uint64()}
}

// keeper knows how it was at the last look, and after memory was last given back.
type keeper struct {
	last usage
	left uint64 // bytes held after that
}

// due says whether memory should be given back now.
func (k *keeper) due(now usage) bool {
	quiet := now.collections == k.last.collections
	k.last = now
	return quiet && now.held > k.left+kept
}

func (k *keeper) freed(now usage) {
	k.last, k.left = now, now.held
}
