package connpath

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"adaptive-h3/infra/edge/internal/edgetest"
)

func TestTCPReading(t *testing.T) {
	info := &unix.TCPInfo{
		Rtt: 1500, Min_rtt: 1200, Rttvar: 300, Data_segs_out: 700, Total_retrans: 5, Dsack_dups: 2, Bytes_sent: 1_000_000,
		Bytes_acked: 900_000, Delivery_rate: 1000, Segs_out: 720, Segs_in: 400, Snd_cwnd: 10, Notsent_bytes: 3,
	}
	r := tcpReading(info, false)
	if r.RTT != 1500*us || r.MinRTT != 1200*us || r.PacketsSent != 700 || r.PacketsLost != 3 || r.BytesSent != 1_000_000 ||
		r.DeliveryRate != 1000 || r.Retransmitted != 5 || r.SegmentsSent != 720 {
		t.Errorf("%+v", r)
	}
	// More duplicates reported than retransmissions made: no loss, not a huge one.
	r = tcpReading(&unix.TCPInfo{Total_retrans: 1, Dsack_dups: 4, Min_rtt: noMinRTT}, false)
	if r.PacketsLost != 0 || r.MinRTT != 0 {
		t.Errorf("%+v", r)
	}
}

func TestAppLimitedRates(t *testing.T) {
	cases := []struct {
		name       string
		rate       uint64
		minRTTus   uint32
		appLimited bool
		want       uint64
	}{
		{"the path was the limit", 100_000, 100_000, false, 100_000},
		{"a small page at 100 ms", 100_000, 100_000, true, 0},
		{"a flight of 64 KiB", 655_360, 100_000, true, 655_360},
		{"loopback", 2_000_000_000, 20, true, 2_000_000_000},
		{"no minimum RTT yet", 100_000, noMinRTT, true, 0},
	}
	for _, tc := range cases {
		r := tcpReading(&unix.TCPInfo{Delivery_rate: tc.rate, Min_rtt: tc.minRTTus}, tc.appLimited)
		if r.DeliveryRate != tc.want || r.RawDeliveryRate != tc.rate {
			t.Errorf("%s: %d, want %d", tc.name, r.DeliveryRate, tc.want)
		}
	}
}

// The kernel marks a rate that one small write gave as limited by the program: the bit that x/sys does not name.
func TestAppLimitedBitOfKernel(t *testing.T) {
	var config net.ListenConfig
	config.SetMultipathTCP(false) // as the edge's own listeners have it
	ln, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := ln.(*net.TCPListener).AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1)
	for range 20 {
		if _, err := c.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	var info *unix.TCPInfo
	edgetest.Eventually(t, "all acknowledged", func() bool {
		info = tcpInfo(raw)
		return info != nil && info.Unacked == 0 && info.Bytes_acked >= 20
	})
	if info.Delivery_rate == 0 || !appLimited(info) {
		t.Fatalf("rate %d, limited by the program: %v", info.Delivery_rate, appLimited(info))
	}
}
