// Package shaper is the emulated link of one direction: a bottleneck with a drop-tail queue or fq_codel before it, then a lossy
// wire with a delay. It is pure: time is an argument, packets are a size and a slot number.
package shaper

import (
	"math"
	"math/rand/v2"
)

// Verdict says what becomes of a packet that arrives.
type Verdict int

const (
	Accepted Verdict = iota
	// DroppedQueue: the queue of the bottleneck was full.
	DroppedQueue
	// DroppedLoss: lost on the wire, after it took its time at the bottleneck.
	DroppedLoss
	// DroppedFull: the emulator's own memory was full, which is a fault of the measurement and not of the path.
	DroppedFull
)

// Shaper is one direction. Not safe for concurrent use.
type Shaper struct {
	settings Settings
	loss     stream
	jitter   stream
	police   stream
	bucket   bucket
	fair     *fair // once fq_codel was asked for: what waits in it is not in the ring
	gone     []Gone

	// The packets that are in the path, oldest first; positions only grow, the index is position & mask.
	ring        []packet
	mask        uint64
	head, tail  uint64
	waitingFrom uint64 // the first that the bottleneck has not begun to send

	waitingBytes int64

	busyUntilNs float64 // when the bottleneck will have sent all that it has; a float keeps the fractions
	releasedNs  int64   // the release time of the latest that left
	nowNs       int64
}

// Gone is a packet that was accepted and does not leave.
type Gone struct {
	Slot    int32
	Verdict Verdict
}

type packet struct {
	startNs   int64
	departNs  float64
	releaseNs int64
	delayNs   int64
	bits      float64 // left to send at startNs
	size      int32
	slot      int32 // noSlot for one that the wire loses: it only takes its time at the bottleneck
	waits     bool  // found the bottleneck busy
}

const noSlot = -1

// New makes a shaper that holds at most capacity packets, a power of two.
func New(capacity int) *Shaper {
	return &Shaper{ring: make([]packet, capacity), mask: uint64(capacity) - 1}
}

// Configure sets everything anew and restarts the random sequences. What is in the path stays in it, as in Change.
func (s *Shaper) Configure(nowNs int64, settings Settings, seed uint64, direction int) {
	s.loss.seed(seed, direction, streamLoss)
	s.jitter.seed(seed, direction, streamJitter)
	s.police.seed(seed, direction, streamPolice)
	s.bucket = bucket{atNs: nowNs}
	s.Change(nowNs, settings)
}

// Change sets everything but the random sequences. Packets in the path are kept: those at the bottleneck go on at the
// new rate, and each keeps the delay and the fate that it was given when it arrived.
func (s *Shaper) Change(nowNs int64, settings Settings) {
	nowNs = s.advance(nowNs)
	reflow := settings.RateMbps != s.settings.RateMbps
	s.settings = settings
	if settings.isFair() && s.fair == nil {
		s.fair = newFair(len(s.ring))
	}
	if reflow {
		s.reflow(nowNs)
	}
}

// Polices says whether the network drops a packet of UDP of size bytes before it arrives here. Called once for each of them, and
// for no other.
func (s *Shaper) Polices(nowNs int64, size int) bool {
	if s.police.next() < s.settings.UDPLossRatio || s.settings.UDPMaxBytes > 0 && int64(size) > s.settings.UDPMaxBytes {
		return true
	}
	return s.settings.UDPRateMbps > 0 && !s.bucket.take(nowNs, int64(size), s.settings)
}

// bucket is a token bucket (RFC 2697, with one colour to drop): it holds bytes, and fills at a rate.
type bucket struct {
	missing float64 // from full
	atNs    int64
}

func (b *bucket) take(nowNs, size int64, settings Settings) bool {
	b.missing = max(0, b.missing-float64(max(0, nowNs-b.atNs))*settings.UDPRateMbps/8e3)
	b.atNs = max(b.atNs, nowNs)
	if b.missing+float64(size) > float64(settings.UDPBurstBytes) {
		return false
	}
	b.missing += float64(size)
	return true
}

// Arrive takes a packet of size bytes, whose release time is then found by Next.
func (s *Shaper) Arrive(nowNs int64, size int, slot int32) Verdict {
	nowNs = s.advance(nowNs)
	start := max(float64(nowNs), s.busyUntilNs)
	waits := start > float64(nowNs)
	if waits && s.waitingBytes+int64(size) > s.settings.QueueBytes {
		return DroppedQueue
	}
	verdict := s.send(start, waits, size, slot)
	s.advance(nowNs)
	return verdict
}

// ArriveIn takes a packet of a flow where the queue is fq_codel. Accepted is not the last word: Gone tells which packets went.
func (s *Shaper) ArriveIn(nowNs int64, size int, slot int32, hash uint32) Verdict {
	nowNs = s.advance(nowNs)
	if !s.fair.enqueue(nowNs, int32(size), slot, hash, s.settings.QueueBytes, s.dropped) {
		return DroppedFull
	}
	s.advance(nowNs)
	return Accepted
}

// IsFair says whether packets arrive by ArriveIn.
func (s *Shaper) IsFair() bool { return s.settings.isFair() }

// Gone are the packets that have gone since it was last asked. Valid until the next call of the shaper.
func (s *Shaper) Gone() []Gone {
	gone := s.gone
	s.gone = s.gone[:0]
	return gone
}

func (s *Shaper) dropped(slot int32) { s.gone = append(s.gone, Gone{slot, DroppedQueue}) }

// feed gives the bottleneck what fq_codel has next, at each moment at which it was free.
func (s *Shaper) feed() {
	for s.fair != nil && s.fair.held > 0 && s.busyUntilNs <= float64(s.nowNs) {
		// All that waits came while the bottleneck was busy, or just now.
		start := max(s.busyUntilNs, float64(s.fair.newestNs))
		size, slot, ok := s.fair.dequeue(ceil(start), s.dropped)
		if !ok {
			return
		}
		if verdict := s.send(start, false, int(size), slot); verdict != Accepted {
			s.gone = append(s.gone, Gone{slot, verdict})
		}
	}
}

// send lets the bottleneck have a packet from start on.
func (s *Shaper) send(start float64, waits bool, size int, slot int32) Verdict {
	if s.tail-s.head > s.mask {
		return DroppedFull
	}
	verdict := Accepted
	if s.loss.next() < s.settings.LossRatio {
		verdict = DroppedLoss
	}
	delayMs := s.settings.DelayMs + (2*s.jitter.next()-1)*s.settings.JitterMs
	bits := float64(size) * 8
	p := packet{
		startNs: ceil(start), departNs: start + s.sendNs(bits), delayNs: int64(math.Round(delayMs * 1e6)),
		bits: bits, size: int32(size), slot: slot, waits: waits,
	}
	if verdict != Accepted {
		p.slot = noSlot
	}
	p.releaseNs = p.releaseAfter(s.lastReleaseNs())
	s.busyUntilNs = p.departNs
	if verdict != Accepted && s.settings.RateMbps == 0 {
		return verdict
	}
	s.ring[s.tail&s.mask] = p
	s.tail++
	if waits {
		s.waitingBytes += int64(size)
	}
	return verdict
}

// Next is when Pop should be called next; false if nothing is in the path.
func (s *Shaper) Next() (releaseNs int64, ok bool) {
	if s.fair != nil && s.fair.held > 0 {
		freeNs := ceil(s.busyUntilNs)
		if releaseNs, ok = s.nextRelease(); ok {
			return min(releaseNs, freeNs), true
		}
		return freeNs, true
	}
	return s.nextRelease()
}

func (s *Shaper) nextRelease() (releaseNs int64, ok bool) {
	if s.head == s.tail {
		return 0, false
	}
	return s.ring[s.head&s.mask].releaseNs, true
}

// Pop takes the next packet that is due at nowNs.
func (s *Shaper) Pop(nowNs int64) (slot int32, releaseNs int64, ok bool) {
	nowNs = s.advance(nowNs)
	for {
		next, any := s.nextRelease()
		if !any || next > nowNs {
			return 0, 0, false
		}
		p := &s.ring[s.head&s.mask]
		s.head++
		s.releasedNs = p.releaseNs
		if p.slot != noSlot {
			return p.slot, p.releaseNs, true
		}
	}
}

// WaitingBytes is what waits for the bottleneck, without the packet that is being sent.
func (s *Shaper) WaitingBytes(nowNs int64) int64 {
	s.advance(nowNs)
	if s.fair != nil {
		return s.waitingBytes + s.fair.bytes
	}
	return s.waitingBytes
}

// Held is the number of packets in the path, with those that the wire will lose.
func (s *Shaper) Held() int {
	held := int(s.tail - s.head)
	if s.fair != nil {
		held += s.fair.held
	}
	return held
}

func (s *Shaper) sendNs(bits float64) float64 {
	if s.settings.RateMbps == 0 {
		return 0
	}
	return bits * 1e3 / s.settings.RateMbps
}

// advance moves packets from waiting to being sent. Time never runs backwards: reader and releaser read the clock
// before they take the lock.
func (s *Shaper) advance(nowNs int64) int64 {
	s.nowNs = max(s.nowNs, nowNs)
	for s.waitingFrom != s.tail && s.ring[s.waitingFrom&s.mask].startNs <= s.nowNs {
		if p := &s.ring[s.waitingFrom&s.mask]; p.waits {
			s.waitingBytes -= int64(p.size)
		}
		s.waitingFrom++
	}
	s.feed()
	return s.nowNs
}

// reflow lets the bottleneck go on at the new rate with what it has.
func (s *Shaper) reflow(nowNs int64) {
	now := float64(nowNs)
	busyUntil, release := now, s.releasedNs
	for i := s.head; i != s.tail; i++ {
		p := &s.ring[i&s.mask]
		if p.departNs <= now {
			release = p.releaseNs
			continue
		}
		if start := float64(p.startNs); start < now {
			p.bits *= (p.departNs - now) / (p.departNs - start)
			p.startNs = nowNs
		} else {
			p.startNs = ceil(busyUntil)
		}
		p.departNs = busyUntil + s.sendNs(p.bits)
		p.releaseNs = p.releaseAfter(release)
		busyUntil, release = p.departNs, p.releaseNs
	}
	s.busyUntilNs = busyUntil
	s.advance(nowNs)
}

func (s *Shaper) lastReleaseNs() int64 {
	if s.head == s.tail {
		return s.releasedNs
	}
	return s.ring[(s.tail-1)&s.mask].releaseNs
}

// releaseAfter keeps the order: a packet whose delay varied to less than its predecessor's leaves together with it.
// A lost packet holds nobody up.
func (p *packet) releaseAfter(previousNs int64) int64 {
	if p.slot == noSlot {
		return max(previousNs, ceil(p.departNs))
	}
	return max(previousNs, ceil(p.departNs)+p.delayNs)
}

func ceil(ns float64) int64 { return int64(math.Ceil(ns)) }

// Settings are those of one direction. The zero value is a wire that neither limits, delays nor loses.
type Settings struct {
	// RateMbps is the bottleneck, of IP packets; 0 is unlimited.
	RateMbps float64
	DelayMs  float64
	// JitterMs is the half width of a uniform variation of the delay; at most DelayMs.
	JitterMs  float64
	LossRatio float64
	// UDPLossRatio is what a network drops of UDP alone, before the bottleneck, as one that polices it.
	UDPLossRatio float64
	// UDPRateMbps and UDPBurstBytes are a token bucket in the same place: what finds too little in it is dropped. 0 is no bucket.
	UDPRateMbps   float64
	UDPBurstBytes int64
	// UDPMaxBytes is the largest IP packet that carries UDP; 0 is no bound.
	UDPMaxBytes int64
	// QueueBytes bounds what waits, without the packet that is being sent.
	QueueBytes int64
	// Queue is what waits in: DropTail, or FQCoDel where there is a bottleneck.
	Queue string
}

// What a queue may be.
const (
	DropTail = ""
	FQCoDel  = "fq_codel"
)

func (s *Settings) isFair() bool { return s.Queue == FQCoDel && s.RateMbps > 0 }

// stream is one sequence of numbers in [0, 1). Each purpose has its own and takes exactly one number a packet, also
// when its setting is 0: so a change of one setting moves no decision of another.
type stream struct {
	pcg rand.PCG
}

const (
	streamLoss   = 0
	streamJitter = 4 // the numbers between were others': a recorded run's seed gives the same drops
	streamPolice = 7
)

func (s *stream) seed(seed uint64, direction, purpose int) {
	id := uint64(direction)<<8 | uint64(purpose)
	s.pcg.Seed(splitMix(seed), splitMix(seed^splitMix(id+1)))
}

func (s *stream) next() float64 {
	return float64(s.pcg.Uint64()>>11) / (1 << 53)
}

// splitMix is the finaliser of SplitMix64: neighbouring seeds must not give neighbouring states.
func splitMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
