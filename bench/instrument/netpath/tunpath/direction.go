package tunpath

import (
	"math"
	"time"

	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/netpath/pathconfig"
	"adaptive-h3/bench/instrument/netpath/shaper"
)

// direction carries packets one way: a reader puts them into the shaper, a releaser takes them out when they are due.
type direction struct {
	index      int // 0 is a to b
	from, to   int // file descriptors
	monotonic0 int64
	bell       bell

	mu        lock
	shaper    *shaper.Shaper
	pool      *pool
	config    pathconfig.Config
	setNs     int64
	changes   int   // of the configuration, with its beginning
	wakesNs   int64 // when the releaser wakes by itself
	releasing bool  // packets are out of the shaper and not yet written
	counted   Counters
}

var started = time.Now()

// nowNs is CLOCK_MONOTONIC since the start of the process: Go reads it without a system call, and the shaper's
// fractions of a nanosecond want small numbers.
func nowNs() int64 { return int64(time.Since(started)) }

func newDirection(index, from, to int) *direction {
	var monotonic unix.Timespec
	before := nowNs()
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &monotonic)
	return &direction{
		index: index, from: from, to: to, monotonic0: monotonic.Nano() - (before+nowNs())/2,
		shaper: shaper.New(maxSlots), pool: newPool(mtu), wakesNs: math.MaxInt64,
	}
}

// set takes a new configuration; what is in the path stays in it.
func (d *direction) set(atNs int64, config pathconfig.Config) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.config, d.setNs, d.changes = config, atNs, 1
	d.shaper.Configure(atNs, config.Steps[0].Settings[d.index], config.Seed, d.index)
	d.wakeIfEarlier()
}

// followProfile applies the changes that are due, at their own times. d.mu is held.
func (d *direction) followProfile(now int64) {
	for {
		step, ok := d.config.Change(d.changes)
		if !ok || d.setNs+step.AtNs > now {
			return
		}
		d.shaper.Change(d.setNs+step.AtNs, step.Settings[d.index])
		d.changes++
	}
}

// wakeIfEarlier rings if the releaser would sleep too long. d.mu is held.
func (d *direction) wakeIfEarlier() {
	if d.nextNs() < d.wakesNs {
		d.wakesNs = math.MinInt64
		d.bell.ring()
	}
}

// nextNs is the next packet's release or the next change of the profile. d.mu is held.
func (d *direction) nextNs() int64 {
	next := int64(math.MaxInt64)
	if at, ok := d.shaper.Next(); ok {
		next = at
	}
	if step, ok := d.config.Change(d.changes); ok {
		next = min(next, d.setNs+step.AtNs)
	}
	return next
}
