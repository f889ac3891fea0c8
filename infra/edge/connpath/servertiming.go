package connpath

import (
	"strconv"
	"time"
)

// ServerTiming writes Cloudflare's cfL4 metric as a Server-Timing value (W3C Server Timing, section 3): RTTs in
// microseconds, delivery_rate in bytes per second, cwnd in packets for TCP and in bytes for QUIC, ts in ms since the
// connection began. lost and retrans are cumulative. x is 0, because Cloudflare does not document it.
//
// It is empty where c is nil, or has no RTT yet: in 0-RTT nobody has measured anything, and a zero would look like a figure.
func ServerTiming(c *Connection, now time.Time) string {
	if c == nil {
		return ""
	}
	r, ok := c.Read()
	if !ok || r.RTT == 0 {
		return ""
	}
	proto := "TCP"
	if c.Transport == QUIC {
		proto = "QUIC"
	}
	b := make([]byte, 0, 320)
	b = append(b, `cfL4;desc="?proto=`...)
	b = append(b, proto...)
	b = appendField(b, "rtt", uint64(r.RTT.Microseconds()))
	b = appendField(b, "min_rtt", uint64(r.MinRTT.Microseconds()))
	b = appendField(b, "rtt_var", uint64(r.RTTVar.Microseconds()))
	b = appendField(b, "sent", r.SegmentsSent)
	b = appendField(b, "recv", r.PacketsReceived)
	b = appendField(b, "lost", r.PacketsLost)
	b = appendField(b, "retrans", r.Retransmitted)
	b = appendField(b, "sent_bytes", r.BytesSent)
	b = appendField(b, "recv_bytes", r.BytesReceived)
	b = appendField(b, "delivery_rate", r.RawDeliveryRate)
	b = appendField(b, "cwnd", r.CongestionWindow)
	b = appendField(b, "unsent_bytes", r.UnsentBytes)
	b = append(b, "&cid="...)
	b = append(b, c.ID()...)
	b = appendField(b, "ts", uint64(now.Sub(c.Began).Milliseconds()))
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
