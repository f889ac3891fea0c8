package main

import (
	"net"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"
)

// newQUICConnection describes an accepted QUIC connection. Its statistics are atomics of the connection, and stay
// readable after its end.
func newQUICConnection(qc *quic.Conn, now time.Time) *connection {
	c := newConnection(transportQUIC, now)
	c.rate = &rateMeter{}
	c.client = func() netip.Addr {
		if a, ok := qc.RemoteAddr().(*net.UDPAddr); ok {
			return clientAddr(a.AddrPort())
		}
		return netip.Addr{}
	}
	c.rate.flow = func() flow { return quicFlow(qc.ConnectionStats()) }
	c.read = func() (reading, bool) {
		return quicReading(qc.ConnectionStats(), c.rate.best()), true
	}
	return c
}

// quicReading translates quic-go's counters.
//
// PacketsSent counts every packet, bare acknowledgements too, so uploads dilute the loss ratio; TCP's counts data only.
// PacketsLost also counts each congestion event that the network signals by ECN (RFC 9002, section 7.1).
func quicReading(s quic.ConnectionStats, deliveryRate uint64) reading {
	r := reading{
		packetsSent:     s.PacketsSent,
		packetsLost:     s.PacketsLost,
		bytesSent:       s.BytesSent,
		deliveryRate:    deliveryRate,
		rawDeliveryRate: deliveryRate,
		segmentsSent:    s.PacketsSent,
		packetsReceived: s.PacketsReceived,
		bytesReceived:   s.BytesReceived,
		retransmitted:   s.PacketsLost, // quic-go does not count these; what a lost packet carried is sent again
		congestionWin:   s.CongestionWindow,
		windowUnitBytes: 1,
	}
	// Before the first measurement quic-go gives RFC 9002's initial RTT for both, which is nobody's.
	if s.LatestRTT > 0 {
		r.rtt, r.minRTT, r.rttVar = s.SmoothedRTT, s.MinRTT, s.MeanDeviation
	}
	return r
}

func quicFlow(s quic.ConnectionStats) flow {
	return flow{sent: s.BytesSent, lost: s.BytesLost, window: s.CongestionWindow, srtt: s.SmoothedRTT}
}
