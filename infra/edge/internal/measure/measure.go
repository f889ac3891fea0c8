// Package measure reads what the sender knows of one connection: TCP_INFO from the kernel, quic-go's statistics, and a
// delivery rate and the losses of QUIC, which quic-go does not measure so. It knows no HTTP and no client addresses. It imports quic-go
// and x/sys, and no package of this module.
package measure

import "time"

// Transport is what carries a connection, as path samples and request.cf name it.
type Transport string

// The transports.
const (
	TCP  Transport = "tcp"
	QUIC Transport = "quic"
)

// Reading is what the sender knows of one connection at one moment. Zero durations and a zero rate mean unknown; a zero
// counter is a count. Counters are cumulative over the connection.
type Reading struct {
	RTT    time.Duration // smoothed
	MinRTT time.Duration
	RTTVar time.Duration // mean deviation

	PacketsSent uint64 // TCP: segments with data, retransmissions included. QUIC: all packets
	PacketsLost uint64 // falls when a packet that counted as lost turns out to have arrived
	BytesSent   uint64 // retransmissions included, on both transports

	// DeliveryRate, in bytes per second, says what the *path* carried. It is 0 where the sender only measured itself.
	DeliveryRate uint64

	// The rest appears in Server-Timing only.

	RawDeliveryRate  uint64 // bytes per second as the transport has it, limited by the sender or not
	SegmentsSent     uint64 // TCP: tcpi_segs_out, bare acknowledgements included. QUIC: as PacketsSent
	PacketsReceived  uint64
	BytesReceived    uint64
	Retransmitted    uint64 // packets
	CongestionWindow uint64 // TCP: packets. QUIC: bytes
	WindowUnitBytes  uint64 // what CongestionWindow counts
	UnsentBytes      uint64 // accepted from the program, not yet sent
}

// Since returns what a connection counted after an earlier reading.
func (r Reading) Since(earlier Reading) Reading {
	for _, counter := range []struct {
		now     *uint64
		earlier uint64
	}{
		{&r.PacketsSent, earlier.PacketsSent},
		{&r.PacketsLost, earlier.PacketsLost},
		{&r.BytesSent, earlier.BytesSent},
		{&r.SegmentsSent, earlier.SegmentsSent},
		{&r.PacketsReceived, earlier.PacketsReceived},
		{&r.BytesReceived, earlier.BytesReceived},
		{&r.Retransmitted, earlier.Retransmitted},
	} {
		*counter.now -= min(*counter.now, counter.earlier)
	}
	return r
}

// CongestionWindowBytes returns the congestion window in bytes, on both transports.
func (r Reading) CongestionWindowBytes() uint64 { return r.CongestionWindow * r.WindowUnitBytes }

// Milliseconds returns d in ms with the microseconds that the sources have.
func Milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000
}
