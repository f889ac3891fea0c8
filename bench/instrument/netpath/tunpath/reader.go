package tunpath

import (
	"runtime"

	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/netpath/shaper"
)

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
	if isUDP(d.pool.bytes(slot)[:size]) && d.shaper.Polices() {
		d.counted.DroppedLoss++
		return false
	}
	verdict := d.shaper.Arrive(now, size, slot)
	switch verdict {
	case shaper.Accepted:
		return !d.passAtOnce(now)
	case shaper.DroppedQueue:
		d.counted.DroppedQueue++
	case shaper.DroppedLoss:
		d.counted.DroppedLoss++
	case shaper.DroppedFull:
		d.counted.DroppedMemory++
	}
	return false
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

// isUDP reads an IP packet's header (RFC 791, RFC 8200; extension headers are not looked into).
func isUDP(packet []byte) bool {
	const ipv4, ipv6, bytes = 4, 6, 20
	if len(packet) < bytes {
		return false
	}
	switch packet[0] >> 4 {
	case ipv4:
		return packet[9] == unix.IPPROTO_UDP
	case ipv6:
		return packet[6] == unix.IPPROTO_UDP
	}
	return false
}
