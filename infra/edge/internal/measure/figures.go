package measure

import "time"

// Figures are the part of a reading that path samples and request.cf both carry, as JSON.
type Figures struct {
	RTTMs    float64 `json:"rttMs,omitempty"`
	MinRTTMs float64 `json:"minRttMs,omitempty"`
	*Counters
	DeliveryRateBps uint64 `json:"deliveryRateBps,omitempty"` // bytes per second
}

// Counters are cumulative over the connection; nil where nothing could read them.
type Counters struct {
	PacketsSent uint64 `json:"packetsSent"`
	PacketsLost uint64 `json:"packetsLost"`
	BytesSent   uint64 `json:"bytesSent"`
	BusyMs      int64  `json:"busyMs"` // how long at least one response was under way
}

// NewFigures takes the figures out of a reading. busy is what no transport knows: how long responses were under way.
func NewFigures(r Reading, busy time.Duration) Figures {
	return Figures{
		RTTMs:           Milliseconds(r.RTT),
		MinRTTMs:        Milliseconds(r.MinRTT),
		Counters:        &Counters{r.PacketsSent, r.PacketsLost, r.BytesSent, busy.Milliseconds()},
		DeliveryRateBps: r.DeliveryRate,
	}
}
