package main

import (
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tcpConn is an accepted TCP connection that reads TCP_INFO once more when it is closed: afterwards the socket is gone.
// (*tls.Conn).NetConn gives it back.
type tcpConn struct {
	*net.TCPConn
	raw     syscall.RawConn
	conn    *connection
	onClose func(*connection)
	linger  *lingerer

	closing  sync.Once
	closeErr error
}

func newTCPConn(c *net.TCPConn, now time.Time, onClose func(*connection), linger *lingerer) (*tcpConn, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	t := &tcpConn{TCPConn: c, raw: raw, conn: newConnection(transportTCP, now), onClose: onClose, linger: linger}
	var remote netip.Addr
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		remote = clientAddr(a.AddrPort())
	}
	t.conn.client = func() netip.Addr { return remote }
	t.conn.read = t.read
	return t, nil
}

func (t *tcpConn) Write(p []byte) (int, error) {
	n, err := t.TCPConn.Write(p)
	t.conn.sent.Add(uint64(n))
	return n, err
}

// Close hands the connection over for its closing sample, then closes it. Where the client closed first, as browsers
// do, everything has been acknowledged by now. Where this side does (Connection: close, shutdown), the counters lack
// what the kernel still has to send and the losses of the last flight. They are cumulative, so that is evidence
// missing, not wrong; waiting for it would hold the socket for as long as the client likes, so it is not done.
func (t *tcpConn) Close() error {
	t.closing.Do(func() {
		t.onClose(t.conn)
		if t.conn.lingers.Load() {
			t.closeErr = t.linger.close(t.TCPConn)
			return
		}
		t.closeErr = t.TCPConn.Close()
	})
	return t.closeErr
}

func (t *tcpConn) read() (reading, bool) {
	var info *unix.TCPInfo
	var err error
	if ctlErr := t.raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	}); ctlErr != nil || err != nil {
		return reading{}, false // closed
	}
	return tcpReading(info, appLimited(info)), true
}

// appLimited reads tcpi_delivery_rate_app_limited, the lowest bit of the byte at offset 7 of struct tcp_info
// (linux/tcp.h; bit-fields grow from the lowest bit on amd64 and arm64). x/sys leaves that byte out of TCPInfo, as
// padding that the kernel fills all the same.
func appLimited(info *unix.TCPInfo) bool {
	const offset = 7
	return *(*uint8)(unsafe.Add(unsafe.Pointer(info), offset))&1 != 0
}

// noMinRTT is tcpi_min_rtt before the first measurement (~0U, tcp_min_rtt in net/tcp.h).
const noMinRTT = ^uint32(0)

// tcpReading translates struct tcp_info (RTTs in microseconds, rates in bytes per second).
func tcpReading(info *unix.TCPInfo, appLimited bool) reading {
	r := reading{
		rtt:         time.Duration(info.Rtt) * time.Microsecond,
		rttVar:      time.Duration(info.Rttvar) * time.Microsecond,
		packetsSent: uint64(info.Data_segs_out),
		// Every retransmission was a packet held for lost; a DSACK (RFC 2883) says that it had arrived after all.
		packetsLost: uint64(info.Total_retrans) - uint64(min(info.Dsack_dups, info.Total_retrans)),
		// Not tcpi_bytes_acked: this way the number counts what QUIC's counts, retransmissions included.
		bytesSent:       info.Bytes_sent,
		rawDeliveryRate: info.Delivery_rate,
		segmentsSent:    uint64(info.Segs_out),
		packetsReceived: uint64(info.Segs_in),
		bytesReceived:   info.Bytes_received,
		retransmitted:   uint64(info.Total_retrans),
		congestionWin:   uint64(info.Snd_cwnd),
		windowUnitBytes: uint64(info.Snd_mss),
		unsentBytes:     uint64(info.Notsent_bytes),
	}
	if info.Min_rtt != noMinRTT {
		r.minRTT = time.Duration(info.Min_rtt) * time.Microsecond
	}
	if !appLimited || tellsOfPath(r.rawDeliveryRate, r.minRTT) {
		r.deliveryRate = r.rawDeliveryRate
	}
	return r
}

const (
	tellingFlight = 64 << 10 // bytes
	tellingRate   = 12_500_000
)

// tellsOfPath decides about a rate at which the program, not the path, was the limit. The kernel keeps the last reading
// that was not so, and one that was only where it is higher (tcp_rate_gen in net/ipv4/tcp_rate.c): then it is true as a
// lower bound, but 10 KB at 100 ms reads as 100 kB/s, and would make a fast path look slow. It is told on where
// that harm is small: a flight of 64 KiB was under way (the size from which QUIC's rate is taken too), or the bound is
// 100 Mbit/s and more, as everything over loopback is.
func tellsOfPath(rate uint64, minRTT time.Duration) bool {
	return rate >= tellingRate || float64(rate)*minRTT.Seconds() >= tellingFlight
}
