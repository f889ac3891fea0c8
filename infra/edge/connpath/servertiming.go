package connpath

import (
	"fmt"
	"strings"
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
	return fmt.Sprintf(`cfL4;desc="?proto=%s&rtt=%d&min_rtt=%d&rtt_var=%d&sent=%d&recv=%d&lost=%d&retrans=%d&sent_bytes=%d&recv_bytes=%d`+
		`&delivery_rate=%d&cwnd=%d&unsent_bytes=%d&cid=%s&ts=%d&x=0"`,
		strings.ToUpper(string(c.Transport)), r.RTT.Microseconds(), r.MinRTT.Microseconds(), r.RTTVar.Microseconds(), r.SegmentsSent,
		r.PacketsReceived, r.PacketsLost, r.Retransmitted, r.BytesSent, r.BytesReceived, r.RawDeliveryRate, r.CongestionWindow,
		r.UnsentBytes, c.ID(), now.Sub(c.Began).Milliseconds())
}
