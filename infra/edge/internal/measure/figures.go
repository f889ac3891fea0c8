package measure

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
}

// NewFigures takes the figures out of a reading.
func NewFigures(r Reading) Figures {
	return Figures{
		RTTMs:           Milliseconds(r.RTT),
		MinRTTMs:        Milliseconds(r.MinRTT),
		Counters:        &Counters{r.PacketsSent, r.PacketsLost, r.BytesSent},
		DeliveryRateBps: r.DeliveryRate,
	}
}
