package measure

import "github.com/quic-go/quic-go"

// ReadQUIC translates quic-go's counters. deliveryRate is that of the connection's RateMeter, in bytes per second.
//
// PacketsSent counts every packet, bare acknowledgements too, so uploads dilute the loss ratio; TCP's counts data only.
func ReadQUIC(s quic.ConnectionStats, events *Events, deliveryRate uint64) Reading {
	r := Reading{
		PacketsSent:      s.PacketsSent,
		PacketsLost:      events.Packets(),
		BytesSent:        s.BytesSent,
		DeliveryRate:     deliveryRate,
		RawDeliveryRate:  deliveryRate,
		SegmentsSent:     s.PacketsSent,
		PacketsReceived:  s.PacketsReceived,
		BytesReceived:    s.BytesReceived,
		Retransmitted:    events.declared.Load(), // what such a packet carried is sent again
		CongestionWindow: s.CongestionWindow,
		WindowUnitBytes:  1,
	}
	// Before the first measurement quic-go gives RFC 9002's initial RTT for both, which nobody measured.
	if s.LatestRTT > 0 {
		r.RTT, r.MinRTT, r.RTTVar = s.SmoothedRTT, s.MinRTT, s.MeanDeviation
	}
	return r
}

// QUICFlow takes out of quic-go's counters what a RateMeter needs.
func QUICFlow(s quic.ConnectionStats, events *Events) Flow {
	return Flow{sent: s.BytesSent, lost: events.bytes(s.BytesLost), window: s.CongestionWindow, srtt: s.SmoothedRTT}
}

// TakenQUIC returns how many bytes a QUIC client took: what was sent less what was declared lost. quic-go counts no acknowledged
// bytes.
// A client that acknowledges nothing gets a few probes only, and its connection ends after the idle timeout.
func TakenQUIC(s quic.ConnectionStats) uint64 { return s.BytesSent - min(s.BytesLost, s.BytesSent) }
