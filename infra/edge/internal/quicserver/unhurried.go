package quicserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"golang.org/x/net/ipv4"

	"adaptive-h3/infra/edge/connpath"
)

// batchReader reads several packets at a time. quic-go calls it in place of the socket's own (sys_conn_oob.go).
type batchReader interface {
	ReadBatch(ms []ipv4.Message, flags int) (int, error)
}

// udpSocket is what quic-go uses of a UDP socket.
type udpSocket interface {
	quic.OOBCapablePacketConn
	SetWriteBuffer(bytes int) error
}

const (
	// A handshake waits no longer. Chromium 156 gives up 4 s after its first packet (measured), and needs two round trips from here.
	longestWait = 2500 * time.Millisecond
	// Between two looks whether a handshake still has to wait.
	lookEvery = 50 * time.Millisecond
	// For so long a handshake is remembered at least; the bound is of those in that time. What is beyond it does not wait.
	rememberedFor = 5 * time.Second
	remembered    = 1024
)

// handshake is one that began.
type handshake struct {
	began    time.Time     // when its first packet came
	answered bool          // it does not wait any more
	packet   *ipv4.Message // the last one, of one that waits
}

// known is what began, or waited, within some seconds.
type known struct {
	handshakes map[string]*handshake       // by the connection ID that the client chose for the server
	waited     map[netip.AddrPort]struct{} // clients
}

// unhurried is a UDP socket that keeps the first packets of handshakes that have to wait, and hands the last one of each on when that has waited.
// One goroutine reads it.
type unhurried struct {
	udpSocket
	batch batchReader
	waits func(client netip.Addr) bool

	recent, older known
	turned        time.Time    // when recent was empty
	waiting       []*handshake // those with a packet
	looks         time.Time    // when these are looked at next

	mu      sync.Mutex // of what another goroutine than the reader sees: who waited, and
	stopped bool       // whether the read deadline is quic-go's
}

func newUnhurried(socket udpSocket, waits func(client netip.Addr) bool) *unhurried {
	batch, own := socket.(batchReader)
	if !own {
		batch = ipv4.NewPacketConn(socket)
	}
	return &unhurried{udpSocket: socket, batch: batch, waits: waits}
}

// ReadBatch reads packets. quic-go ignores one without bytes, and an error of its deadline.
func (u *unhurried) ReadBatch(ms []ipv4.Message, flags int) (int, error) {
	n, err := u.batch.ReadBatch(ms, flags)
	n = max(n, 0)
	for i := range ms[:n] {
		m := &ms[i]
		if id, begins := beginning(m.Buffers[0][:m.N]); begins {
			if one := u.lets(id, connpath.ClientAddr(m.Addr), time.Now()); one != nil {
				u.keep(one, m)
				m.N = 0
			}
		}
	}
	if len(u.waiting) == 0 || (err != nil && !errors.Is(err, os.ErrDeadlineExceeded)) {
		return n, err
	}
	if ready := u.ready(ms[n:], time.Now()); ready > 0 {
		n, err = n+ready, nil
	}
	return n, err
}

// lets returns a handshake that the server lets wait, or nil. One that it did not let wait once goes on: its answer may have been lost.
func (u *unhurried) lets(id []byte, client netip.Addr, now time.Time) *handshake {
	one := u.remember(id, now)
	if one == nil || one.answered {
		return nil
	}
	if now.Sub(one.began) < longestWait && u.waits(client) {
		return one
	}
	one.answered = true
	return nil
}

// keep keeps a packet of a handshake, in place of the one before.
func (u *unhurried) keep(one *handshake, m *ipv4.Message) {
	if len(u.waiting) == 0 {
		u.wake(time.Now().Add(lookEvery))
	}
	if one.packet == nil {
		u.waiting = append(u.waiting, one)
	}
	one.packet = &ipv4.Message{Buffers: [][]byte{bytes.Clone(m.Buffers[0][:m.N])}, OOB: bytes.Clone(m.OOB[:m.NN]), Addr: m.Addr}
}

// ready fills ms with the packets of handshakes that need not wait any more, and returns how many there are. Clients would send them again by
// themselves, but later each time.
func (u *unhurried) ready(ms []ipv4.Message, now time.Time) (n int) {
	if now.Before(u.looks) {
		return 0
	}
	u.waiting = slices.DeleteFunc(u.waiting, func(one *handshake) bool {
		packet := one.packet
		if !one.answered {
			if n == len(ms) || (now.Sub(one.began) < longestWait && u.waits(connpath.ClientAddr(packet.Addr))) {
				return false
			}
			one.answered = true
			u.noteWaited(packet.Addr)
			m := &ms[n]
			m.N, m.NN, m.Addr, m.Flags = copy(m.Buffers[0], packet.Buffers[0]), copy(m.OOB, packet.OOB), packet.Addr, 0
			n++
		} // else a later packet of it went on
		one.packet = nil
		return true
	})
	if len(u.waiting) > 0 {
		u.wake(now.Add(lookEvery))
	} else {
		u.wake(time.Time{})
	}
	return n
}

// wake has the reader look at what waits at a time, or never.
func (u *unhurried) wake(at time.Time) {
	u.looks = at
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.stopped {
		_ = u.udpSocket.SetReadDeadline(at)
	}
}

// SetReadDeadline is how quic-go stops to read.
func (u *unhurried) SetReadDeadline(at time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stopped = !at.IsZero()
	return u.udpSocket.SetReadDeadline(at)
}

// remember returns the handshake, or nil where there are too many.
func (u *unhurried) remember(id []byte, now time.Time) *handshake {
	if now.Sub(u.turned) >= rememberedFor {
		u.mu.Lock()
		u.older, u.recent, u.turned = u.recent, known{map[string]*handshake{}, map[netip.AddrPort]struct{}{}}, now
		u.mu.Unlock()
	}
	for _, of := range []known{u.recent, u.older} {
		if one := of.handshakes[string(id)]; one != nil {
			return one
		}
	}
	if len(u.recent.handshakes) >= remembered {
		return nil
	}
	one := &handshake{began: now}
	u.recent.handshakes[string(id)] = one
	return one
}

func (u *unhurried) noteWaited(client net.Addr) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.recent.waited[portOf(client)] = struct{}{}
}

// hasWaited says whether a client's handshake waited within the last seconds. Its next packet is answered by a Retry: by another answer to the
// one that waited a client may take the wait for a round trip (RFC 9002, section 5.1).
func (u *unhurried) hasWaited(client net.Addr) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := portOf(client)
	_, recently := u.recent.waited[at]
	_, before := u.older.waited[at]
	return recently || before
}

func portOf(client net.Addr) netip.AddrPort {
	udp, _ := client.(*net.UDPAddr)
	return udp.AddrPort() // of nil, the zero one
}

// beginning says whether a packet is one of the first of a handshake, of a client that can wait, and which connection ID the client chose for
// the server. Until the server has answered, the client chooses both: the server's has 8 bytes or more then (RFC 9000, section 7.2), where
// quic-go's own are shorter. Chromium gives itself none. Firefox, which gives itself one, goes without HTTP/3 for the rest of the visit
// where it waits for a tenth of a second.
func beginning(packet []byte) (id []byte, begins bool) {
	const version, length, first, random = 1, 5, 6, 8
	const least = 1200 // bytes of its datagram (RFC 9000, section 14.1)
	if len(packet) < least || packet[0]&0xf0 != 0xc0 || quic.Version(binary.BigEndian.Uint32(packet[version:])) != quic.Version1 {
		return nil, false // not an Initial packet (RFC 9000, section 17.2.2)
	}
	own := first + int(packet[length]) // where the length of the client's own ID stands
	return packet[first:own], packet[length] >= random && packet[own] == 0
}
