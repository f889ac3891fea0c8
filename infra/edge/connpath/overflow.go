package connpath

import (
	"sync"
	"time"
)

const (
	// longRTT: from here on such losses count. TCP takes round trips to recover from them, and HTTP/3 is the faster one: pages 2 and 3 take
	// 549 ms beside 755 on 50 Mbit/s, at 30 ms with a queue of 60 kB (bench/results/real-networks). At 4 ms it takes next to nothing.
	longRTT = 10 * time.Millisecond
	// cleanPackets: who has lost none of so many is on no network that drops packets at random. Where 2 % are dropped one connection in eight
	// comes so far.
	cleanPackets = 100
	// firstReading is after how many bytes a connection is read for the first time: some 90 packets.
	firstReading = 128 << 10
)

// overflow tells what a TCP connection loses by its own slow start, which ends by filling the path's queue where that is too short for the
// RTT to rise (RFC 9406, section 4.2), from what the network drops. The kernel does not say which packets it lost, so this goes by readings.
// Where the RTT is long it leaves all as it is. The zero value is a new connection.
type overflow struct {
	mu     sync.Mutex
	clean  uint64 // packets sent at the last reading without a loss
	window uint64 // packets: the largest so far
	end    uint64 // what is lost until so many are sent may be slow start's; 0: nothing is lost yet
	own    uint64 // packets that slow start lost
}

// leaveOut takes what slow start lost out of a reading. The first loss ends slow start. It is noticed up to a reading and a round trip late, when
// the window may be twice the largest that was read, and the next flight may overflow too.
func (o *overflow) leaveOut(r Reading) Reading {
	if r.MinRTT >= longRTT {
		return r
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window = max(o.window, r.CongestionWindow)
	if r.PacketsLost == 0 {
		o.clean, o.end, o.own = r.PacketsSent, 0, 0
		return r
	}
	if o.end == 0 {
		o.end = 1
		if o.clean >= cleanPackets {
			o.end = r.PacketsSent + 4*o.window
		}
	}
	if r.PacketsSent <= o.end {
		o.own = max(o.own, r.PacketsLost)
	}
	r.PacketsLost -= min(r.PacketsLost, o.own)
	return r
}
