package forge

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"
)

// sources is the number of sockets that a flood sends from, each with an address and a port of its own.
const sources = 128

// Flood sends rate Initials a second to a server, until ctx ends, from random addresses of the loopback network. It reads no
// answer. It returns how many it sent.
func Flood(ctx context.Context, server netip.AddrPort, rate int) (sent int, err error) {
	initials, err := NewInitials("localhost")
	if err != nil {
		return 0, err
	}
	sockets := make([]*net.UDPConn, sources)
	for i := range sockets {
		from := [4]byte{127, byte(1 + rand.IntN(200))}
		binary.BigEndian.PutUint16(from[2:], uint16(1+rand.IntN(65_000)))
		if sockets[i], err = net.ListenUDP("udp4", &net.UDPAddr{IP: from[:]}); err != nil {
			return 0, err
		}
		defer sockets[i].Close()
	}
	began := time.Now()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return sent, nil
		case <-ticker.C:
		}
		for due := int(time.Since(began).Seconds() * float64(rate)); sent < due && ctx.Err() == nil; sent++ {
			packet, err := initials.Next()
			if err != nil {
				return sent, err
			}
			// A full queue loses packets, as it would on the way.
			_, _ = sockets[sent%sources].WriteToUDPAddrPort(packet, server)
		}
	}
}
