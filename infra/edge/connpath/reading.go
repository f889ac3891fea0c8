package connpath

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
	PacketsLost uint64 // without those of the sender's own slow start; falls when one turns out to have arrived
	BytesSent   uint64 // retransmissions included, on both transports
	BytesLost   uint64 // QUIC only

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

// since returns what a connection counted after an earlier reading.
func (r Reading) since(earlier Reading) Reading {
	count := func(now *uint64, before uint64) { *now -= min(*now, before) }
	count(&r.PacketsSent, earlier.PacketsSent)
	count(&r.PacketsLost, earlier.PacketsLost)
	count(&r.BytesSent, earlier.BytesSent)
	count(&r.BytesLost, earlier.BytesLost)
	count(&r.SegmentsSent, earlier.SegmentsSent)
	count(&r.PacketsReceived, earlier.PacketsReceived)
	count(&r.BytesReceived, earlier.BytesReceived)
	count(&r.Retransmitted, earlier.Retransmitted)
	return r
}

// CongestionWindowBytes returns the congestion window in bytes, on both transports.
func (r Reading) CongestionWindowBytes() uint64 { return r.CongestionWindow * r.WindowUnitBytes }

// figures are the part of a reading that path samples and request.cf both carry, as JSON.
type figures struct {
	RTTMs    float64 `json:"rttMs,omitempty"`
	MinRTTMs float64 `json:"minRttMs,omitempty"`
	*counters
	DeliveryRateBps uint64 `json:"deliveryRateBps,omitempty"` // bytes per second
}

// counters are cumulative over the connection; nil where nothing could read them.
type counters struct {
	PacketsSent uint64 `json:"packetsSent"`
	PacketsLost uint64 `json:"packetsLost"`
	BytesSent   uint64 `json:"bytesSent"`
	BusyMs      int64  `json:"busyMs"` // how long at least one response was under way, until its client had all of it
}

// figuresOf takes the figures out of a reading. busy is what no transport knows: how long responses were under way.
func figuresOf(r Reading, busy time.Duration) figures {
	return figures{
		milliseconds(r.RTT), milliseconds(r.MinRTT), &counters{r.PacketsSent, r.PacketsLost, r.BytesSent, busy.Milliseconds()}, r.DeliveryRate,
	}
}

// milliseconds returns d in ms with the microseconds that the sources have.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
