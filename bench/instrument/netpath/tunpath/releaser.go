package tunpath

import (
	"math"
	"runtime"

	"golang.org/x/sys/unix"
)

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
