package main

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const (
	// sources is the number of sockets that a flood sends from, each with an address and a port of its own.
	sources = 128
	// initials is how many different handshakes begin. Each comes again and again.
	initials = 2_000
)

// flood sends the first packets of QUIC handshakes that nobody continues, from random addresses of the loopback network, and prints how
// many it sent. It reads no answer, and refuses to send anywhere else.
func flood(args []string) error {
	flags := flag.NewFlagSet("flood", flag.ExitOnError)
	to := flags.String("to", "", "`IP:PORT` of a server on this machine")
	rate := flags.Int("rate", 1000, "`N` packets a second")
	lasts := flags.Duration("for", 5*time.Second, "`DURATION` of the attack")
	_ = flags.Parse(args)
	server, err := netip.ParseAddrPort(*to)
	if err != nil || !server.Addr().Is4() || !server.Addr().IsLoopback() {
		return errors.New("flag -to: it must be IP:PORT with an address in 127.0.0.0/8")
	}
	packets, err := firstPackets(initials)
	if err != nil {
		return err
	}
	sockets := make([]*net.UDPConn, sources)
	for i := range sockets {
		from := [4]byte{127, byte(1 + rand.IntN(200))}
		binary.BigEndian.PutUint16(from[2:], uint16(1+rand.IntN(65_000)))
		if sockets[i], err = net.ListenUDP("udp4", &net.UDPAddr{IP: from[:]}); err != nil {
			return err
		}
	}
	sent := 0
	for began := time.Now(); time.Since(began) < *lasts; time.Sleep(time.Millisecond) {
		for due := int(time.Since(began).Seconds() * float64(*rate)); sent < due; sent++ {
			// A full queue loses packets, as it would on the way.
			_, _ = sockets[sent%sources].WriteToUDPAddrPort(packets[sent%len(packets)], server)
		}
	}
	fmt.Println(sent)
	return nil
}

// firstPackets makes a number of handshakes' first packets, by a client whose socket keeps what is sent.
func firstPackets(n int) (packets [][]byte, err error) {
	config := &tls.Config{
		ServerName: "localhost", NextProtos: []string{http3.NextProtoH3},
		CurvePreferences: []tls.CurveID{tls.X25519}, // with a post-quantum key it would need two packets
	}
	for range n {
		socket := &keeper{sent: make(chan []byte, 16), closed: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		go func() { _, _ = quic.Dial(ctx, socket, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, config, nil) }()
		packets = append(packets, <-socket.sent)
		cancel()
		close(socket.closed)
	}
	return packets, nil
}

// keeper is a socket that keeps what is written, and on which nothing comes.
type keeper struct {
	sent   chan []byte
	closed chan struct{}
}

func (k *keeper) WriteTo(p []byte, _ net.Addr) (int, error) {
	select {
	case k.sent <- append([]byte(nil), p...):
	default:
	}
	return len(p), nil
}

func (k *keeper) ReadFrom([]byte) (int, net.Addr, error) {
	<-k.closed
	return 0, nil, net.ErrClosed
}

func (k *keeper) Close() error                     { return nil }
func (k *keeper) LocalAddr() net.Addr              { return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2} }
func (k *keeper) SetDeadline(time.Time) error      { return nil }
func (k *keeper) SetReadDeadline(time.Time) error  { return nil }
func (k *keeper) SetWriteDeadline(time.Time) error { return nil }
