package connpath

import (
	"sync"
	"time"
)

const (
	// The meter takes a reading at the first return of a Write after 3 SRTT, so that acknowledgements have come, and after
	// 20 ms, because pacing and scheduling dominate shorter times on a busy machine.
	readingRTTs = 3
	minReading  = 20 * time.Millisecond
	// The interval of a reading starts again after 16 SRTT. At its end about one window may be in flight, which is what a
	// round trip delivers. So a long interval reads low by 1/16 at most, and still follows the path.
	intervalRTTs = 16
	// The end of a response is a reading too, from this many bytes on: more than quic-go's first flight of 32 packets,
	// so a round trip of acknowledgements is in it.
	minResponseBytes = 64 << 10
	// A Write must have waited for this share of an interval. quic-go's Write returns when all but the last packet
	// has been sent, so a Write that waits means that data is queued behind the congestion window or the pacer.
	minBlockedShare = 0.75
	// The meter keeps the maximum over two buckets of this length, counted from the reading that opened the bucket. Without
	// new readings the last one stays, as the kernel's does for TCP.
	rateBucket = 5 * time.Second
)

// rateMeter measures the rate at which a QUIC connection delivers, which quic-go does not.
//
// It takes the slope of sent - lost bytes over intervals in which the network was the limit. Sent bytes are not
// delivered bytes: in slow start as many again are in flight. So the meter subtracts the congestion window, which bounds
// them (RFC 9002, section 7). It adds nothing for the bytes that were in flight when the interval began: nobody knows how
// many these were, and after a stall of either end they are few. To add a window made readings 30 % too high. So a reading is
// a lower bound, and close to the truth over ten round trips and more. It never exceeds window / SRTT, the most that a
// sender delivers that waits for its window.
//
// A client that reads slowly also delays Write. Then the rate is the client's, which is also the rate of its page loads.
type rateMeter struct {
	read func() Reading // of the counters, with the RTT

	mu      sync.Mutex
	open    bool
	start   time.Time // of the interval
	first   Reading   // at start
	looked  time.Time // the interval's last reading, at first its start
	window  uint64    // bytes, at the last reading: a cut at a loss leaves more than the new window in flight
	written uint64    // bytes, since start

	writing      int // Writes under way, on any stream
	blockedSince time.Time
	blocked      time.Duration // time with a Write under way, since start
	lastEnd      time.Time     // when the last Write under way returned

	current, previous bucket
}

type bucket struct {
	began time.Time
	max   uint64 // bytes per second
}

// writeBegins notes that a Write begins. Call it right before the connection gets bytes, or a flush.
func (m *rateMeter) writeBegins(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writing == 0 {
		m.blockedSince = now
		// After a pause of a round trip everything in flight has arrived, and the interval would only dilute.
		if !m.open || now.Sub(m.lastEnd) > max(m.first.RTT, minReading) {
			m.begin(now, m.read())
		}
	}
	m.writing++
}

func (m *rateMeter) begin(now time.Time, f Reading) {
	m.open, m.start, m.looked, m.first, m.window = true, now, now, f, f.CongestionWindow
	m.blocked, m.written = 0, 0
}

// writeEnds notes that the connection took n bytes, and takes a reading when it is time.
func (m *rateMeter) writeEnds(now time.Time, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written += uint64(n)
	m.countBlocked(now)
	m.writing--
	m.lastEnd = now
	if since := now.Sub(m.looked); m.open && since >= minReading {
		if f := m.read(); f.RTT > 0 && since >= readingRTTs*f.RTT {
			m.takeReading(now, f)
		}
	}
}

// restart forgets all readings: from now on the connection has another path.
func (m *rateMeter) restart(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current, m.previous = bucket{}, bucket{}
	m.open = m.writing > 0
	if m.open {
		m.blockedSince = now
		m.begin(now, m.read())
	}
}

// responseEnds notes that a response has been written to its end, and takes a reading when that was long enough.
func (m *rateMeter) responseEnds(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open || m.written < minResponseBytes {
		return
	}
	// In less than a round trip nothing sent in this interval can have been acknowledged.
	if f := m.read(); f.RTT > 0 && now.Sub(m.start) >= f.RTT {
		m.countBlocked(now)
		m.takeReading(now, f)
	}
}

// countBlocked adds the time since its last call to blocked, if a Write was under way.
func (m *rateMeter) countBlocked(now time.Time) {
	if m.writing > 0 {
		m.blocked += now.Sub(m.blockedSince)
		m.blockedSince = now
	}
}

// takeReading reads the interval up to now. It starts another one when this one is long enough, or when the network was not
// the limit.
func (m *rateMeter) takeReading(now time.Time, f Reading) {
	lasted := now.Sub(m.start)
	limited := m.blocked.Seconds() >= minBlockedShare*lasted.Seconds()
	if limited {
		if rate := m.slope(lasted, f); rate > 0 {
			m.keep(now, rate)
		}
	}
	m.looked, m.window = now, f.CongestionWindow
	if !limited || lasted >= max(intervalRTTs*f.RTT, minReading) {
		m.open = m.writing > 0
		if m.open {
			m.begin(now, f)
		}
	}
}

// slope returns the interval's delivery rate in bytes per second, or 0 when no rate is certain.
func (m *rateMeter) slope(lasted time.Duration, f Reading) uint64 {
	window := max(m.window, f.CongestionWindow)
	delivered := (int64(f.BytesSent) - int64(f.BytesLost)) - (int64(m.first.BytesSent) - int64(m.first.BytesLost)) - int64(window)
	if delivered <= 0 || lasted <= 0 {
		return 0
	}
	rate := float64(delivered) / lasted.Seconds()
	if srtt := f.RTT.Seconds(); srtt > 0 {
		rate = min(rate, float64(window)/srtt)
	}
	return uint64(rate)
}

// keep enters a reading into the windowed maximum.
func (m *rateMeter) keep(now time.Time, rate uint64) {
	switch age := now.Sub(m.current.began); {
	case m.current.max == 0 || age >= 2*rateBucket:
		m.previous, m.current = bucket{}, bucket{now, rate}
	case age >= rateBucket:
		m.previous, m.current = m.current, bucket{now, rate}
	default:
		m.current.max = max(m.current.max, rate)
	}
}

// best returns the highest reading of the last buckets in bytes per second, or 0 while there is no reading.
func (m *rateMeter) best() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(m.current.max, m.previous.max)
}
