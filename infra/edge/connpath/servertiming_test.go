package connpath

import (
	"testing"
	"time"
)

func TestServerTimingForm(t *testing.T) {
	r := Reading{
		RTT: 2026 * time.Microsecond, MinRTT: 1850 * time.Microsecond, RTTVar: 500 * time.Microsecond, SegmentsSent: 6, PacketsReceived: 8, PacketsLost: 1,
		Retransmitted: 2, BytesSent: 3395, BytesReceived: 1234, RawDeliveryRate: 1_500_000, CongestionWindow: 251, UnsentBytes: 7,
	}
	cases := map[Transport]string{
		TCP: `cfL4;desc="?proto=TCP&rtt=2026&min_rtt=1850&rtt_var=500&sent=6&recv=8&lost=1&retrans=2&sent_bytes=3395` +
			`&recv_bytes=1234&delivery_rate=1500000&cwnd=251&unsent_bytes=7&cid=0123456789abcdef&ts=58&x=0"`,
		QUIC: `cfL4;desc="?proto=QUIC&rtt=2026&min_rtt=1850&rtt_var=500&sent=6&recv=8&lost=1&retrans=2&sent_bytes=3395` +
			`&recv_bytes=1234&delivery_rate=1500000&cwnd=251&unsent_bytes=7&cid=0123456789abcdef&ts=58&x=0"`,
	}
	for tr, want := range cases {
		c := fake("0123456789abcdef", tr, "192.0.2.7:1", r, true)
		if got := ServerTiming(c, c.Began.Add(58*time.Millisecond)); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}
