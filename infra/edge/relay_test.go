package main

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// udpRelay is a path for one QUIC client: delay, a token bucket with a bounded queue, losses, late packets and marks, all on the
// data's direction, from the server to the client. It counts what it does to packets.
type udpRelay struct {
	address string

	delay time.Duration // one way; so the RTT is the delay
	rate  float64       // bytes per second; 0: no limit
	queue int           // bytes that wait at most for the bucket
	// Of datagrams of more than 1,000 bytes, every nth is dropped, comes later than its turn, or is marked by ECN; 0: none.
	loseEvery, lateEvery, markEvery int
	loseAt                          []int // these are dropped too, the first is 1
	loseSmallAt                     int   // one of at most 1,000 bytes; 0: none
	lateBy                          time.Duration

	forwarded atomic.Int64 // datagrams to the client
	dropped   atomic.Int64
	late      atomic.Int64
	marked    atomic.Int64
	bytes     atomic.Int64
}

type datagram struct {
	due    time.Time
	lateBy time.Duration
	data   []byte
	ecn    byte
}

func startRelay(t *testing.T, server string, r *udpRelay) *udpRelay {
	t.Helper()
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp", server)
	if err != nil {
		t.Fatal(err)
	}
	back, err := net.DialUDP("udp", nil, to)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*net.UDPConn{front, back} {
		_ = c.SetReadBuffer(4 << 20)
	}
	raw, err := back.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_RECVTOS, 1) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.address = front.LocalAddr().String()
	var client atomic.Pointer[net.UDPAddr]
	inOrder := make(chan datagram, 1<<16)
	var running sync.WaitGroup
	running.Go(func() { // client to server
		buf := make([]byte, 65536)
		for {
			n, from, err := front.ReadFromUDP(buf)
			if err != nil {
				return
			}
			client.Store(from)
			_, _ = back.Write(buf[:n])
		}
	})
	running.Go(func() { r.serverToClient(back, inOrder); close(inOrder) })
	running.Go(func() {
		deliver(inOrder, func(d datagram) {
			if to := client.Load(); to != nil {
				r.send(front, d, to)
			}
		})
	})
	t.Cleanup(func() { front.Close(); back.Close(); running.Wait() })
	return r
}

// deliver sends each datagram when it is due, and late ones later. No datagram overtakes another that is due before it, also on a
// busy machine.
func deliver(inOrder <-chan datagram, send func(datagram)) {
	var late []datagram
	sendAt := func(d datagram) {
		time.Sleep(time.Until(d.due)) // the path's own time, which is what is emulated
		send(d)
	}
	for {
		var lateIsDue <-chan time.Time
		if len(late) > 0 {
			lateIsDue = time.After(time.Until(late[0].due))
		}
		select {
		case <-lateIsDue:
			send(late[0])
			late = late[1:]
		case d, ok := <-inOrder:
			if !ok {
				return
			}
			for len(late) > 0 && late[0].due.Before(d.due) {
				sendAt(late[0])
				late = late[1:]
			}
			if d.lateBy > 0 {
				d.due = d.due.Add(d.lateBy)
				late = append(late, d)
			} else {
				sendAt(d)
			}
		}
	}
}

// send passes a datagram on, with its mark.
func (r *udpRelay) send(front *net.UDPConn, d datagram, to *net.UDPAddr) {
	tos := make([]byte, unix.CmsgSpace(4))
	head := (*unix.Cmsghdr)(unsafe.Pointer(&tos[0]))
	head.Level, head.Type = unix.IPPROTO_IP, unix.IP_TOS
	head.SetLen(unix.CmsgLen(4))
	tos[unix.CmsgLen(0)] = d.ecn
	_, _, _ = front.WriteMsgUDP(d.data, tos, to)
	r.forwarded.Add(1)
	r.bytes.Add(int64(len(d.data)))
}

// markOf returns the two bits of ECN (RFC 3168, section 5) that came with a datagram.
func markOf(control []byte) byte {
	messages, _ := unix.ParseSocketControlMessage(control)
	for _, m := range messages {
		if m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_TOS {
			return m.Data[0] & 3
		}
	}
	return 0
}

const ecnMarked = 3 // congestion experienced

func (r *udpRelay) serverToClient(back *net.UDPConn, inOrder chan<- datagram) {
	buf, control := make([]byte, 65536), make([]byte, 64)
	var free time.Time // when the bucket's line is free again
	large, small := 0, 0
	isNth := func(every int) bool { return every > 0 && large%every == 0 }
	for {
		n, controlled, _, _, err := back.ReadMsgUDP(buf, control)
		if err != nil {
			return
		}
		d := datagram{ecn: markOf(control[:controlled]), data: append([]byte(nil), buf[:n]...)}
		if n > 1000 {
			large++
			if isNth(r.loseEvery) || slices.Contains(r.loseAt, large) {
				r.dropped.Add(1)
				continue
			}
			if isNth(r.lateEvery) {
				d.lateBy = r.lateBy
				r.late.Add(1)
			}
			if isNth(r.markEvery) && d.ecn != 0 {
				d.ecn = ecnMarked
				r.marked.Add(1)
			}
		} else if small++; small == r.loseSmallAt {
			r.dropped.Add(1)
			continue
		}
		now := time.Now()
		if free.Before(now) {
			free = now
		}
		if r.rate > 0 {
			if free.Sub(now).Seconds()*r.rate > float64(r.queue) {
				r.dropped.Add(1)
				continue
			}
			free = free.Add(time.Duration(float64(n) / r.rate * float64(time.Second)))
		}
		d.due = free.Add(r.delay)
		inOrder <- d
	}
}
