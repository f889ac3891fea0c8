// Package slowstart ends the slow start of QUIC connections by HyStart++ (RFC 9406), in place of quic-go's own way, which takes eight late
// samples of the RTT for a queue and never goes back: a browser that is busy reads its packets late. quic-go has no setting for it, so
// infra/setup/quic-go.ts builds the edge with a copy of quic-go that calls this. It imports nothing of either.
package slowstart

import "time"

// RFC 9406, section 4.3.
const (
	samplesOfRound     = 8
	leastIncrease      = 4 * time.Millisecond
	mostIncrease       = 16 * time.Millisecond
	increaseDivisor    = 8
	growthDivisor      = 4
	conservativeRounds = 5
)

// HyStart is the slow start of one connection. The zero value is its beginning.
type HyStart struct {
	roundEnd, lastSent int64 // packet numbers

	lastMin, min time.Duration // of the round before and of this one; 0: no sample
	samples      int

	// The RTT has risen: the window grows by less for some rounds, after which slow start is over, unless the RTT falls below that with
	// which it began.
	conservative bool
	baseline     time.Duration
	rounds       int
}

// OnPacketSent notes the last packet that was sent.
func (h *HyStart) OnPacketSent(packet int64) { h.lastSent = packet }

// ShouldExitSlowStart takes a sample of the RTT, and says whether slow start is over.
func (h *HyStart) ShouldExitSlowStart(rtt time.Duration) bool {
	if h.min == 0 || rtt < h.min {
		h.min = rtt
	}
	h.samples++
	if h.samples >= samplesOfRound {
		if h.conservative {
			h.conservative = h.min >= h.baseline
		} else if h.lastMin > 0 && h.min >= h.lastMin+min(max(h.lastMin/increaseDivisor, leastIncrease), mostIncrease) {
			h.conservative, h.baseline, h.rounds = true, h.min, 0
		}
	}
	return h.conservative && h.rounds >= conservativeRounds
}

// OnPacketAcked ends a round, however little was sent in it (RFC 9406 has at most five slow ones), with the first packet that was sent in the next one.
func (h *HyStart) OnPacketAcked(packet int64) {
	if packet <= h.roundEnd {
		return
	}
	h.roundEnd = h.lastSent
	if h.min > 0 {
		h.lastMin = h.min
	}
	h.min, h.samples = 0, 0
	h.rounds++
}

// Growth returns by how much the window grows where it would grow by so many bytes.
func (h *HyStart) Growth(bytes int64) int64 {
	if h.conservative {
		return bytes / growthDivisor
	}
	return bytes
}

// Restart begins anew: after a timeout, and where a rehearsal has lost packets (internal/quicserver).
func (h *HyStart) Restart() { *h = HyStart{lastSent: h.lastSent} }
