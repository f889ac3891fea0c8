package main

import (
	"strconv"
	"time"
)

// serverTiming writes Cloudflare's cfL4 metric as a Server-Timing value (W3C Server Timing, section 3): RTTs in
// microseconds, delivery_rate in bytes per second, cwnd in packets for TCP and in bytes for QUIC, ts in ms since the
// connection began. lost and retrans are cumulative. x is 0: what it is there is not documented.
func serverTiming(c *connection, r reading, now time.Time) string {
	proto := "TCP"
	if c.transport == transportQUIC {
		proto = "QUIC"
	}
	b := make([]byte, 0, 320)
	b = append(b, `cfL4;desc="?proto=`...)
	b = append(b, proto...)
	b = appendField(b, "rtt", uint64(r.rtt.Microseconds()))
	b = appendField(b, "min_rtt", uint64(r.minRTT.Microseconds()))
	b = appendField(b, "rtt_var", uint64(r.rttVar.Microseconds()))
	b = appendField(b, "sent", r.segmentsSent)
	b = appendField(b, "recv", r.packetsReceived)
	b = appendField(b, "lost", r.packetsLost)
	b = appendField(b, "retrans", r.retransmitted)
	b = appendField(b, "sent_bytes", r.bytesSent)
	b = appendField(b, "recv_bytes", r.bytesReceived)
	b = appendField(b, "delivery_rate", r.rawDeliveryRate)
	b = appendField(b, "cwnd", r.congestionWin)
	b = appendField(b, "unsent_bytes", r.unsentBytes)
	b = append(b, "&cid="...)
	b = append(b, c.id...)
	b = appendField(b, "ts", uint64(now.Sub(c.began).Milliseconds()))
	b = appendField(b, "x", 0)
	b = append(b, '"')
	return string(b)
}

func appendField(b []byte, name string, value uint64) []byte {
	b = append(b, '&')
	b = append(b, name...)
	b = append(b, '=')
	return strconv.AppendUint(b, value, 10)
}
