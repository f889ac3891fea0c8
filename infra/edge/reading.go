package main

import "time"

// reading is what the sender knows of one connection at one moment. Zero durations and a zero rate mean unknown;
// a zero counter is a count. Counters are cumulative over the connection.
type reading struct {
	rtt    time.Duration // smoothed
	minRTT time.Duration
	rttVar time.Duration // mean deviation

	packetsSent uint64 // TCP: segments with data, retransmissions included. QUIC: all packets
	packetsLost uint64 // may step back, when a packet that was declared lost turns out to have arrived
	bytesSent   uint64 // retransmissions included, on both transports

	// deliveryRate, in bytes per second, says what the *path* carried. It is 0 where the sender only measured itself.
	deliveryRate uint64

	// The rest appears in Server-Timing only.
	rawDeliveryRate uint64 // bytes per second as the transport has it, limited by the sender or not
	segmentsSent    uint64 // TCP: tcpi_segs_out, bare acknowledgements included. QUIC: as packetsSent
	packetsReceived uint64
	bytesReceived   uint64
	retransmitted   uint64 // packets
	congestionWin   uint64 // TCP: packets. QUIC: bytes
	windowUnitBytes uint64 // what congestionWin counts
	unsentBytes     uint64 // accepted from the program, not yet sent
}

func (r reading) congestionWinBytes() uint64 { return r.congestionWin * r.windowUnitBytes }

// milliseconds gives d in ms with the microseconds that the sources have.
func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}
