package slowstart

import "sync/atomic"

// cleanPackets: who has lost none of so many is on no network that drops packets at random. Where 2 % are dropped one connection in eight comes
// so far, where 8 % are one in 4,000.
const cleanPackets = 100

// Overflow tells what a connection loses by its own slow start, which ends by filling the path's queue where that is too short for the RTT to
// rise (RFC 9406, section 4.2), from what the network drops. The zero value is a new connection.
type Overflow struct {
	lastSent  int64 // packet numbers
	first     int64 // of those since slow start began
	end       int64 // what was sent before may have overflowed
	lost      bool
	anew      atomic.Bool
	rehearses atomic.Bool
}

// Rehearses notes that a rehearsal begins, or that its losses are known. It goes no faster than TCP has, and fills no queue by itself. It may be
// called while packets are noted.
func (o *Overflow) Rehearses(is bool) { o.rehearses.Store(is) }

// Restart notes that slow start begins anew with the next packet. It may be called while packets are noted.
func (o *Overflow) Restart() { o.anew.Store(true) }

// OnPacketSent notes the last packet that was sent.
func (o *Overflow) OnPacketSent(packet int64) {
	o.lastSent = packet
	if o.anew.CompareAndSwap(true, false) {
		o.first, o.end, o.lost = packet, 0, false
	}
}

// OnPacketLost notes a lost packet. The first ends slow start. It is noticed a round trip late, when a whole flight has followed. By then the window
// is up to twice what the path holds; the loss makes it 0.7 of that, so the next flight may overflow too, and no third one.
func (o *Overflow) OnPacketLost(packet int64) {
	if o.lost || packet < o.first {
		return
	}
	o.lost = true
	if packet-o.first >= cleanPackets && !o.rehearses.Load() {
		sent := o.lastSent + 1
		o.end = sent + (sent - packet)
	}
}

// IsOwn says whether a packet, if it is lost, was one too many in the path's queue.
func (o *Overflow) IsOwn(packet int64) bool { return packet >= o.first && packet < o.end }
