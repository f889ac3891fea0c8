package main

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTCPReading(t *testing.T) {
	info := &unix.TCPInfo{
		Rtt: 1500, Min_rtt: 1200, Rttvar: 300, Data_segs_out: 700, Total_retrans: 5, Dsack_dups: 2, Bytes_sent: 1_000_000,
		Bytes_acked: 900_000, Delivery_rate: 1000, Segs_out: 720, Segs_in: 400, Snd_cwnd: 10, Notsent_bytes: 3,
	}
	r := tcpReading(info, false)
	if r.rtt != 1500*us || r.minRTT != 1200*us || r.packetsSent != 700 || r.packetsLost != 3 || r.bytesSent != 1_000_000 ||
		r.deliveryRate != 1000 || r.retransmitted != 5 || r.segmentsSent != 720 {
		t.Errorf("%+v", r)
	}
	// More duplicates reported than retransmissions made: no loss, not a huge one.
	r = tcpReading(&unix.TCPInfo{Total_retrans: 1, Dsack_dups: 4, Min_rtt: noMinRTT}, false)
	if r.packetsLost != 0 || r.minRTT != 0 {
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
		if r.deliveryRate != tc.want || r.rawDeliveryRate != tc.rate {
			t.Errorf("%s: %d, want %d", tc.name, r.deliveryRate, tc.want)
		}
	}
}

// tcpPair is a connection over loopback: the accepted end, measured, and the client's.
func tcpPair(t *testing.T, onClose func(*connection)) (*tcpConn, net.Conn) {
	t.Helper()
	sockets, err := openListen(listenSpec{hosts: mustSpec(t, "127.0.0.1:0").hosts})
	if err != nil {
		t.Fatal(err)
	}
	return tcpPairOn(t, sockets, onClose)
}

// tcpPairOn is the same over sockets that were opened for it, and closes them with the test.
func tcpPairOn(t *testing.T, sockets []socket, onClose func(*connection)) (*tcpConn, net.Conn) {
	t.Helper()
	t.Cleanup(func() { closeSockets(sockets) })
	client, err := net.Dial("tcp", sockets[0].address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	accepted, err := sockets[0].tcp.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newTCPConn(accepted, time.Now(), onClose, &lingerer{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, client
}

// The kernel marks a rate that one small write gave as limited by the program: the bit that x/sys does not name.
func TestAppLimitedBitOfKernel(t *testing.T) {
	c, client := tcpPair(t, func(*connection) {})
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
	eventually(t, "all acknowledged", func() bool {
		err := c.raw.Control(func(fd uintptr) {
			info, _ = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		})
		return err == nil && info != nil && info.Unacked == 0 && info.Bytes_acked >= 20
	})
	if info.Delivery_rate == 0 || !appLimited(info) {
		t.Fatalf("rate %d, limited by the program: %v", info.Delivery_rate, appLimited(info))
	}
}

func TestTCPConnectionReadsOnceMoreAtClose(t *testing.T) {
	var last reading
	var ok bool
	closes := 0
	c, client := tcpPair(t, func(c *connection) { closes++; last, ok = c.read() })
	if c.conn.client().String() != "127.0.0.1" || len(c.conn.id) != 16 {
		t.Errorf("client %s, id %q", c.conn.client(), c.conn.id)
	}
	if _, err := c.Write(pattern(1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	c.Close()
	if closes != 1 || !ok || last.bytesSent != 1000 || last.packetsSent != 1 || last.rtt <= 0 || c.conn.sent.Load() != 1000 {
		t.Errorf("%d closes, %v %+v, %d sent", closes, ok, last, c.conn.sent.Load())
	}
	if _, ok := c.read(); ok {
		t.Error("a closed socket cannot be read")
	}
}
