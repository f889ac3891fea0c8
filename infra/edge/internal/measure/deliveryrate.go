package measure

import (
	"sync"
	"time"
)

// Flow is what a RateMeter needs to know about a QUIC connection: cumulative bytes sent and lost (lost may decrease), the
// congestion window in bytes, the smoothed RTT.
type Flow struct {
	sent, lost, window uint64
	srtt               time.Duration
}

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

// RateMeter measures the rate at which a QUIC connection delivers, which quic-go does not.
//
// It takes the slope of sent - lost bytes over intervals in which the network was the limit. Sent bytes are not
// delivered bytes: in slow start as many again are in flight. So the meter subtracts the congestion window, which bounds
// them (RFC 9002, section 7). It adds nothing for the bytes that were in flight when the interval began: nobody knows how
// many these were, and after a stall of either end they are few. To add a window made readings 30 % too high. So a reading is
// a lower bound, and close to the truth over ten round trips and more. It never exceeds window / SRTT, the most that a
// sender delivers that waits for its window.
//
// A client that reads slowly also delays Write. Then the rate is the client's, which is also the rate of its page loads.
type RateMeter struct {
	flow func() Flow

	mu      sync.Mutex
	open    bool
	start   time.Time // of the interval
	first   Flow      // at start
	read    time.Time // the interval's last reading, at first its start
	window  uint64    // bytes, at the last reading: a cut at a loss leaves more than the new window in flight
	written uint64    // bytes, since start

	writing      int // Writes under way, on any stream
	blockedSince time.Time
	blocked      time.Duration // time with a Write under way, since start
	lastEnd      time.Time     // when the last Write under way returned

	current, previous bucket
}

// NewRateMeter makes a meter of one connection. flow returns that connection's counters; it is called while bytes are
// written, so it must be cheap.
func NewRateMeter(flow func() Flow) *RateMeter { return &RateMeter{flow: flow} }

type bucket struct {
	began time.Time
	max   uint64 // bytes per second
}

// WriteBegins notes that a Write begins. Call it right before the connection gets bytes, or a flush.
func (m *RateMeter) WriteBegins(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writing == 0 {
		m.blockedSince = now
		// After a pause of a round trip everything in flight has arrived, and the interval would only dilute.
		if !m.open || now.Sub(m.lastEnd) > max(m.first.srtt, minReading) {
			m.begin(now, m.flow())
		}
	}
	m.writing++
}

func (m *RateMeter) begin(now time.Time, f Flow) {
	m.open, m.start, m.read, m.first, m.window = true, now, now, f, f.window
	m.blocked, m.written = 0, 0
}

// WriteEnds notes that the connection took n bytes, and takes a reading when it is time.
func (m *RateMeter) WriteEnds(now time.Time, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written += uint64(n)
	m.countBlocked(now)
	m.writing--
	m.lastEnd = now
	if since := now.Sub(m.read); m.open && since >= minReading {
		if f := m.flow(); since >= readingRTTs*f.srtt {
			m.takeReading(now, f)
		}
	}
}

// Restart forgets all readings: from now on the connection has another path.
func (m *RateMeter) Restart(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current, m.previous = bucket{}, bucket{}
	m.open = m.writing > 0
	if m.open {
		m.blockedSince = now
		m.begin(now, m.flow())
	}
}

// ResponseEnds notes that a response has been written to its end, and takes a reading when that was long enough.
func (m *RateMeter) ResponseEnds(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.open || m.written < minResponseBytes {
		return
	}
	// In less than a round trip nothing sent in this interval can have been acknowledged.
	if f := m.flow(); now.Sub(m.start) >= f.srtt {
		m.countBlocked(now)
		m.takeReading(now, f)
	}
}

// countBlocked adds the time since its last call to blocked, if a Write was under way.
func (m *RateMeter) countBlocked(now time.Time) {
	if m.writing > 0 {
		m.blocked += now.Sub(m.blockedSince)
		m.blockedSince = now
	}
}

// takeReading reads the interval up to now. It starts another one when this one is long enough, or when the network was not
// the limit.
func (m *RateMeter) takeReading(now time.Time, f Flow) {
	lasted := now.Sub(m.start)
	limited := m.blocked.Seconds() >= minBlockedShare*lasted.Seconds()
	if limited {
		if rate := m.slope(lasted, f); rate > 0 {
			m.keep(now, rate)
		}
	}
	m.read, m.window = now, f.window
	if !limited || lasted >= max(intervalRTTs*f.srtt, minReading) {
		m.open = m.writing > 0
		if m.open {
			m.begin(now, f)
		}
	}
}

// slope returns the interval's delivery rate in bytes per second, or 0 when no rate is certain.
func (m *RateMeter) slope(lasted time.Duration, f Flow) uint64 {
	window := max(m.window, f.window)
	delivered := (int64(f.sent) - int64(f.lost)) - (int64(m.first.sent) - int64(m.first.lost)) - int64(window)
	if delivered <= 0 || lasted <= 0 {
		return 0
	}
	rate := float64(delivered) / lasted.Seconds()
	if srtt := f.srtt.Seconds(); srtt > 0 {
		rate = min(rate, float64(window)/srtt)
	}
	return uint64(rate)
}

// keep enters a reading into the windowed maximum.
func (m *RateMeter) keep(now time.Time, rate uint64) {
	switch age := now.Sub(m.current.began); {
	case m.current.max == 0 || age >= 2*rateBucket:
		m.previous, m.current = bucket{}, bucket{now, rate}
	case age >= rateBucket:
		m.previous, m.current = m.current, bucket{now, rate}
	default:
		m.current.max = max(m.current.max, rate)
	}
}

// Best returns the highest reading of the last buckets in bytes per second, or 0 while there is no reading.
func (m *RateMeter) Best() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(m.current.max, m.previous.max)
}
