package quicserver

import (
	"encoding/binary"
	"net/netip"
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
	// A handshake waits no longer. Chromium 156 sends its first packets again after 0.3, 0.9 and 2.1 s, and gives up after 4 s (measured). So
	// those of 2.1 s are answered also where the network lost all before those of 0.3 s.
	longestWait = 1500 * time.Millisecond
	// For so long a handshake is remembered at least; the bound is of those in that time. What is beyond it does not wait.
	rememberedFor = 5 * time.Second
	remembered    = 1024
)

// handshake is one that began.
type handshake struct {
	began    time.Time // when its first packet came
	answered bool      // it does not wait any more
}

// unhurried is a UDP socket that loses the first packets of handshakes that have to wait. Their clients send them again. One goroutine
// reads it.
type unhurried struct {
	udpSocket
	batch batchReader
	waits func(client netip.Addr) bool

	recent, older map[string]*handshake // by the connection ID that the client chose for the server
	turned        time.Time             // when recent was empty
}

func newUnhurried(socket udpSocket, waits func(client netip.Addr) bool) *unhurried {
	batch, own := socket.(batchReader)
	if !own {
		batch = ipv4.NewPacketConn(socket)
	}
	return &unhurried{udpSocket: socket, batch: batch, waits: waits}
}

// ReadBatch reads packets. quic-go ignores one without bytes.
func (u *unhurried) ReadBatch(ms []ipv4.Message, flags int) (int, error) {
	n, err := u.batch.ReadBatch(ms, flags)
	for i := range ms[:max(n, 0)] {
		m := &ms[i]
		if id, begins := beginning(m.Buffers[0][:m.N]); begins && u.lets(id, connpath.ClientAddr(m.Addr), time.Now()) {
			m.N = 0
		}
	}
	return n, err
}

// lets says whether the server lets a handshake wait. One that it did not let wait once goes on: its answer may have been lost.
func (u *unhurried) lets(id []byte, client netip.Addr, now time.Time) (wait bool) {
	one := u.remember(id, now)
	if one == nil || one.answered {
		return false
	}
	one.answered = now.Sub(one.began) >= longestWait || !u.waits(client)
	return !one.answered
}

// remember returns the handshake, or nil where there are too many.
func (u *unhurried) remember(id []byte, now time.Time) *handshake {
	if now.Sub(u.turned) >= rememberedFor {
		u.older, u.recent, u.turned = u.recent, map[string]*handshake{}, now
	}
	for _, known := range []map[string]*handshake{u.recent, u.older} {
		if one := known[string(id)]; one != nil {
			return one
		}
	}
	if len(u.recent) >= remembered {
		return nil
	}
	one := &handshake{began: now}
	u.recent[string(id)] = one
	return one
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
