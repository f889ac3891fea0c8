package connpath

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tcpInfo reads TCP_INFO of a TCP socket (tcp(7)); nil when the socket is closed.
func tcpInfo(socket syscall.RawConn) (info *unix.TCPInfo) {
	_ = socket.Control(func(fd uintptr) {
		if read, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			info = read
		}
	})
	return info
}

// readTCP reads a TCP socket. ok is false when the socket is closed.
func readTCP(socket syscall.RawConn) (r Reading, ok bool) {
	info := tcpInfo(socket)
	if info == nil {
		return Reading{}, false
	}
	return tcpReading(info, appLimited(info)), true
}

// quietTCP returns for how long no data has come from or gone to the other end of a TCP socket.
func quietTCP(socket syscall.RawConn) time.Duration {
	if info := tcpInfo(socket); info != nil {
		return time.Duration(min(info.Last_data_sent, info.Last_data_recv)) * time.Millisecond
	}
	return 0
}

// deliveredTCP returns how long ago the last acknowledgement came, where nothing is left to acknowledge; otherwise 0. What a program wrote
// can wait in the kernel and in queues of the path for seconds.
func deliveredTCP(socket syscall.RawConn) time.Duration {
	if info := tcpInfo(socket); info != nil && info.Notsent_bytes == 0 && info.Unacked == 0 {
		return time.Duration(info.Last_ack_recv) * time.Millisecond
	}
	return 0
}

// sendingTCP returns for how long, of its time, a TCP socket has had something to send or to be acknowledged (tcpi_busy_time); 0 when it is closed.
func sendingTCP(socket syscall.RawConn) time.Duration {
	if info := tcpInfo(socket); info != nil {
		return time.Duration(info.Busy_time) * time.Microsecond
	}
	return 0
}

// established is TCP_ESTABLISHED (net/tcp_states.h), the state of a TCP connection that neither end has closed.
const established = 1

// leftTCP says whether either end of a TCP socket has closed it, or reset it, whether or not all that came was read.
func leftTCP(socket syscall.RawConn) bool {
	info := tcpInfo(socket)
	return info == nil || info.State != established
}

// appLimited reads tcpi_delivery_rate_app_limited, the lowest bit of the byte at offset 7 of struct tcp_info
// (linux/tcp.h; bit-fields grow from the lowest bit on amd64 and arm64). x/sys leaves that byte out of TCPInfo, as
// padding, although the kernel fills it.
func appLimited(info *unix.TCPInfo) bool {
	const offset = 7
	return *(*uint8)(unsafe.Add(unsafe.Pointer(info), offset))&1 != 0
}

// noMinRTT is tcpi_min_rtt before the first measurement (~0U, tcp_min_rtt in net/tcp.h).
const noMinRTT = ^uint32(0)

// tcpReading translates struct tcp_info (RTTs in microseconds, rates in bytes per second).
func tcpReading(info *unix.TCPInfo, appLimited bool) Reading {
	r := Reading{
		RTT:         time.Duration(info.Rtt) * time.Microsecond,
		RTTVar:      time.Duration(info.Rttvar) * time.Microsecond,
		PacketsSent: uint64(info.Data_segs_out),
		// The kernel took every packet that it retransmitted for lost; a DSACK (RFC 2883) says that one had arrived after all.
		PacketsLost: uint64(info.Total_retrans) - uint64(min(info.Dsack_dups, info.Total_retrans)),
		// Not tcpi_bytes_acked: this way the number counts what QUIC's counts, retransmissions included.
		BytesSent:        info.Bytes_sent,
		RawDeliveryRate:  info.Delivery_rate,
		SegmentsSent:     uint64(info.Segs_out),
		PacketsReceived:  uint64(info.Segs_in),
		BytesReceived:    info.Bytes_received,
		Retransmitted:    uint64(info.Total_retrans),
		CongestionWindow: uint64(info.Snd_cwnd),
		WindowUnitBytes:  uint64(info.Snd_mss),
		UnsentBytes:      uint64(info.Notsent_bytes),
	}
	if info.Min_rtt != noMinRTT {
		r.MinRTT = time.Duration(info.Min_rtt) * time.Microsecond
	}
	if !appLimited || tellsOfPath(r.RawDeliveryRate, r.MinRTT) {
		r.DeliveryRate = r.RawDeliveryRate
	}
	return r
}

const (
	tellingFlight = 64 << 10 // bytes
	tellingRate   = 12_500_000
)

// tellsOfPath decides about a rate that the program limited, and not the path. The kernel keeps the last reading
// that the path limited, and replaces it by one that the program limited only where that is higher (tcp_rate_gen in
// net/ipv4/tcp_rate.c). Such a rate is true as a lower bound, but 10 KB at 100 ms reads as 100 kB/s, and would make a
// fast path look slow. It passes where that harm is small: a flight of 64 KiB was under way (the size from which QUIC's
// rate is taken too), or the bound is 100 Mbit/s and more, as everything over loopback is.
func tellsOfPath(rate uint64, minRTT time.Duration) bool {
	return rate >= tellingRate || float64(rate)*minRTT.Seconds() >= tellingFlight
}
