package quicserver

import (
	"github.com/quic-go/quic-go"

	"adaptive-h3/infra/edge/connpath"
)

// measured is a connection of quic-go as connpath reads it. Its statistics are atomics of the connection, and stay readable after its end.
type measured struct {
	*quic.Conn
	events *events
}

var _ connpath.QUICConn = measured{}

// Read translates quic-go's counters.
func (m measured) Read() connpath.Reading { return reading(m.ConnectionStats(), m.events) }

// reading counts in PacketsSent every packet, bare acknowledgements too, so uploads dilute the loss ratio; TCP's counts data only.
func reading(s quic.ConnectionStats, e *events) connpath.Reading {
	r := connpath.Reading{
		PacketsSent:      s.PacketsSent,
		PacketsLost:      e.lost(),
		BytesSent:        s.BytesSent,
		BytesLost:        e.bytes(s.BytesLost),
		PacketsReceived:  s.PacketsReceived,
		BytesReceived:    s.BytesReceived,
		Retransmitted:    e.declared.Load(), // what such a packet carried is sent again
		CongestionWindow: s.CongestionWindow,
	}
	// Before the first measurement quic-go gives RFC 9002's initial RTT for both, which nobody measured.
	if s.LatestRTT > 0 {
		r.RTT, r.MinRTT, r.RTTVar = s.SmoothedRTT, s.MinRTT, s.MeanDeviation
	}
	return r
}
