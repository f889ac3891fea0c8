package main

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// udpRelay is a path for one QUIC client: delay, a token bucket with a bounded queue, and losses, all on the data's
// direction, from the server to the client. It counts what it drops.
type udpRelay struct {
	address string

	delay     time.Duration // one way; so the RTT is the delay
	rate      float64       // bytes per second; 0: no limit
	queue     int           // bytes that wait at most for the bucket
	loseEvery int           // drops every nth datagram of more than 1,000 bytes, from the nth on; 0: none

	forwarded atomic.Int64 // datagrams to the client
	dropped   atomic.Int64
	bytes     atomic.Int64
}

type datagram struct {
	due  time.Time
	data []byte
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
	r.address = front.LocalAddr().String()
	var client atomic.Pointer[net.UDPAddr]
	late := make(chan datagram, 1<<16)
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
	running.Go(func() { r.serverToClient(back, late); close(late) })
	running.Go(func() {
		for d := range late {
			time.Sleep(time.Until(d.due)) // the path's own time, which is what is emulated
			if to := client.Load(); to != nil {
				_, _ = front.WriteToUDP(d.data, to)
				r.forwarded.Add(1)
				r.bytes.Add(int64(len(d.data)))
			}
		}
	})
	t.Cleanup(func() { front.Close(); back.Close(); running.Wait() })
	return r
}

func (r *udpRelay) serverToClient(back *net.UDPConn, late chan<- datagram) {
	buf := make([]byte, 65536)
	var free time.Time // when the bucket's line is free again
	large := 0
	for {
		n, err := back.Read(buf)
		if err != nil {
			return
		}
		if r.loseEvery > 0 && n > 1000 {
			if large++; large%r.loseEvery == 0 {
				r.dropped.Add(1)
				continue
			}
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
		late <- datagram{free.Add(r.delay), append([]byte(nil), buf[:n]...)}
	}
}
