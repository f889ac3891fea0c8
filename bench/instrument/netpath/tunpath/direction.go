package tunpath

import (
	"math"
	"runtime"
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

// read never returns: the file stays open until the process ends. A thread of its own, blocked in read, wakes sooner
// than a goroutine that waits for the network poller.
func (d *direction) read() {
	runtime.LockOSThread()
	exactTimers()
	scrap := make([]byte, d.pool.slotBytes)
	slot, ok := int32(0), false
	for {
		buffer := scrap
		d.mu.Lock()
		if !ok {
			slot, ok = d.pool.take()
		}
		if ok {
			buffer = d.pool.bytes(slot)
		}
		d.mu.Unlock()
		n, err := unix.Read(d.from, buffer)
		if err != nil || n <= 0 {
			continue // EINTR; EIO or EBADFD while the device is down
		}
		now := nowNs()
		d.mu.Lock()
		d.followProfile(now)
		if ok {
			d.pool.sizes[slot] = int32(n)
			ok = !d.arrive(now, n, slot)
		} else {
			d.counted.DroppedMemory++
		}
		d.mu.Unlock()
	}
}

// arrive is true if the slot is now the shaper's. d.mu is held.
func (d *direction) arrive(now int64, size int, slot int32) bool {
	if isUDP(d.pool.bytes(slot)[:size]) && d.shaper.Polices(now, size) {
		d.counted.DroppedLoss++
		return false
	}
	if d.shaper.IsFair() {
		verdict := d.shaper.ArriveIn(now, size, slot, flowHash(d.pool.bytes(slot)[:size]))
		d.takeGone()
		d.count(verdict)
		d.wakeIfEarlier()
		return verdict == shaper.Accepted
	}
	verdict := d.shaper.Arrive(now, size, slot)
	d.count(verdict)
	return verdict == shaper.Accepted && !d.passAtOnce(now)
}

// takeGone gives back the slots of packets that fq_codel has dropped, or that the wire loses after it. d.mu is held.
func (d *direction) takeGone() {
	for _, gone := range d.shaper.Gone() {
		d.pool.give(gone.Slot)
		d.count(gone.Verdict)
	}
}

// count counts what did not pass. d.mu is held.
func (d *direction) count(verdict shaper.Verdict) {
	switch verdict {
	case shaper.DroppedQueue:
		d.counted.DroppedQueue++
	case shaper.DroppedLoss:
		d.counted.DroppedLoss++
	case shaper.DroppedFull:
		d.counted.DroppedMemory++
	}
}

// passAtOnce spares a packet that is due now the switch to the releaser, if it is alone in the path. d.mu is held.
func (d *direction) passAtOnce(now int64) bool {
	if d.shaper.Held() == 1 && !d.releasing {
		if slot, due, ok := d.shaper.Pop(now); ok {
			d.write(d.pool.packet(slot), due, &d.counted)
			return true
		}
	}
	d.wakeIfEarlier()
	return false
}

// batch bounds how long slots stay with the releaser, and how long the counters lag.
const batch = 32

type due struct {
	slot   int32
	dueNs  int64
	packet []byte
}

// release never returns.
func (d *direction) release() {
	runtime.LockOSThread()
	exactTimers()
	var (
		ready [batch]due
		n     int
		done  Counters // what was written without the lock
	)
	for {
		d.mu.Lock()
		for _, r := range ready[:n] {
			d.pool.give(r.slot)
		}
		d.counted.Forwarded += done.Forwarded
		d.counted.Late += done.Late
		d.counted.DroppedWrite += done.DroppedWrite
		done = Counters{}
		now := nowNs()
		d.followProfile(now)
		for n = 0; n < batch; n++ {
			slot, dueNs, ok := d.shaper.Pop(now)
			if !ok {
				break
			}
			ready[n] = due{slot, dueNs, d.pool.packet(slot)}
		}
		d.takeGone()
		d.releasing = n > 0
		heard, wakes := d.bell.heard(), int64(math.MinInt64)
		if n == 0 {
			wakes = d.nextNs()
		}
		d.wakesNs = wakes
		d.mu.Unlock()
		if n == 0 {
			d.sleepUntil(wakes, heard)
			continue
		}
		for _, r := range ready[:n] {
			d.write(r.packet, r.dueNs, &done)
		}
	}
}

func (d *direction) sleepUntil(ns int64, heard uint32) {
	if ns == math.MaxInt64 {
		d.bell.sleep(heard, nil)
		return
	}
	until := unix.NsecToTimespec(ns + d.monotonic0)
	d.bell.sleep(heard, &until)
}

const lateNs = 1_000_000

// write passes a packet on and counts it. Called by one thread at a time.
func (d *direction) write(packet []byte, dueNs int64, counted *Counters) {
	late := nowNs()-dueNs > lateNs
	if _, err := unix.Write(d.to, packet); err != nil {
		counted.DroppedWrite++
		return
	}
	counted.Forwarded++
	if late {
		counted.Late++
	}
}
