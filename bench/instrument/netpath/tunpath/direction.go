package tunpath

import (
	"math"

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
	timeline  *pathconfig.Timeline
	setNs     int64
	wakesNs   int64 // when the releaser wakes by itself
	releasing bool  // packets are out of the shaper and not yet written
	received  received
	forwarded forwarded
}

// received is what became of the packets that came in, as far as it is known when they come.
type received struct {
	packets, bytes              uint64
	droppedLoss, droppedBurst   uint64
	droppedQueue, droppedMemory uint64
}

// forwarded is what left.
type forwarded struct {
	packets, bytes uint64
	droppedWrite   uint64
	lateness       lateness
}

func (f *forwarded) add(other *forwarded) {
	f.packets += other.packets
	f.bytes += other.bytes
	f.droppedWrite += other.droppedWrite
	f.lateness.add(&other.lateness)
}

func newDirection(index, from, to, mtu int) *direction {
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
	settings := config.AToB
	if d.index == 1 {
		settings = config.BToA
	}
	d.timeline = pathconfig.NewTimeline(config)
	d.setNs, d.forwarded.lateness.maxNs = atNs, 0
	d.shaper.Configure(atNs, settings, config.Seed, d.index)
	d.wakeIfEarlier()
}

// followProfile applies the changes that are due, at their own times. d.mu is held.
func (d *direction) followProfile(now int64) {
	if d.timeline == nil {
		return
	}
	for {
		step, ok := d.timeline.Peek()
		if !ok {
			d.timeline = nil
			return
		}
		if d.setNs+step.AtNs > now {
			return
		}
		settings := step.AToB
		if d.index == 1 {
			settings = step.BToA
		}
		d.shaper.Change(d.setNs+step.AtNs, settings)
		d.timeline.Advance()
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
	if d.timeline != nil {
		if step, ok := d.timeline.Peek(); ok {
			next = min(next, d.setNs+step.AtNs)
		}
	}
	return next
}
