package measure

import (
	"sync"
	"time"
)

// Flow is what the rate meter needs of a QUIC connection: cumulative bytes sent and lost (lost may step back), the
// congestion window in bytes, the smoothed RTT.
type Flow struct {
	sent, lost, window uint64
	srtt               time.Duration
}

const (
	// A reading is taken at the first return of a Write after 3 SRTT, so that acknowledgements have spoken, and after
	// 20 ms, below which pacing and scheduling on a busy machine dominate.
	readingRTTs = 3
	minReading  = 20 * time.Millisecond
	// The interval that readings look back on starts anew after 16 SRTT. What may be in flight at its end is about one
	// window, what is delivered in a round trip: so a long interval reads low by 1/16 at most, and follows the path still.
	intervalRTTs = 16
	// The end of a response is a reading too, from this many bytes on: more than quic-go's first flight of 32 packets,
	// so a round trip of acknowledgements is in it.
	minResponseBytes = 64 << 10
	// For this share of an interval a Write must have been waiting. quic-go's Write returns when all but the last packet
	// has been sent, so a Write that waits means that data is queued behind the congestion window or the pacer.
	minBlockedShare = 0.75
	// The maximum is kept over two buckets of this length, counted from the reading that opened the bucket: without new
	// readings the last stays, as the kernel's does for TCP.
	rateBucket = 5 * time.Second
)

// RateMeter measures the rate at which a QUIC connection delivers, which quic-go does not.
//
// It takes the slope of sent - lost bytes over intervals in which the network was the limit. Sent bytes are not
// delivered bytes: in slow start as many again are in flight. So the congestion window is taken off, which bounds them
// (RFC 9002, section 7), and nothing is added for what was in flight when the interval began: how much that was is not
// known either, and after a stall of either end it is little, so that crediting a window made readings 30 % too high.
// This way a reading is a lower bound, and close to the truth over ten round trips and more. It is also bounded by
// window / SRTT, what a sender that waits for its window delivers at most.
//
// A client that reads slowly holds Write back too; then the rate is the client's, which is what its loads run at.
type RateMeter struct {
	flow func() Flow

	mu      sync.Mutex
	open    bool
	start   time.Time // of the interval
	first   Flow      // at start
	read    time.Time // the interval's last reading, at first its start
	window  uint64    // bytes, at the last reading: a cut at a loss leaves more than the new window in flight
	written uint64    // bytes, since start

	writing      int // Writes under way, on whichever streams
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

// WriteBegins is called right before bytes are handed to the connection.
func (m *RateMeter) WriteBegins(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writing == 0 {
		m.blockedSince = now
		// After a pause of a round trip what was in flight has arrived, and the interval only dilutes.
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

// WriteEnds is called when n bytes have been taken.
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

// ResponseEnds is called when a response has been written to its end.
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

// countBlocked adds the time since it was last called to that with a Write under way, if one was.
func (m *RateMeter) countBlocked(now time.Time) {
	if m.writing > 0 {
		m.blocked += now.Sub(m.blockedSince)
		m.blockedSince = now
	}
}

// takeReading reads the interval up to now, and starts another when this one is long enough or not of the network's
// making.
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

// slope is the interval's delivery rate in bytes per second, or 0 when none is certain.
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

// Best is the highest reading of the last buckets in bytes per second, 0 without one.
func (m *RateMeter) Best() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(m.current.max, m.previous.max)
}
