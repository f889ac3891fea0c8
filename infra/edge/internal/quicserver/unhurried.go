package quicserver

import (
	"encoding/binary"
	"net/netip"

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

// unhurried is a UDP socket that loses the first packets of handshakes that have to wait. Their clients send them again.
type unhurried struct {
	udpSocket
	batch batchReader
	waits func(client netip.Addr) bool
}

func newUnhurried(socket udpSocket, waits func(client netip.Addr) bool) unhurried {
	batch, own := socket.(batchReader)
	if !own {
		batch = ipv4.NewPacketConn(socket)
	}
	return unhurried{socket, batch, waits}
}

// ReadBatch reads packets. quic-go ignores one without bytes.
func (u unhurried) ReadBatch(ms []ipv4.Message, flags int) (int, error) {
	n, err := u.batch.ReadBatch(ms, flags)
	for i := range ms[:max(n, 0)] {
		if m := &ms[i]; begins(m.Buffers[0][:m.N]) && u.waits(connpath.ClientAddr(m.Addr)) {
			m.N = 0
		}
	}
	return n, err
}

// begins says whether a packet is one of the first of a handshake, by a client that bears to wait. Until the server has answered, such a client
// chooses both connection IDs: the server's has 8 bytes or more then (RFC 9000, section 7.2), where quic-go's own are shorter. Chromium gives
// itself none. Firefox, which gives itself one, goes without HTTP/3 for the rest of the visit where it waits for a tenth of a second.
func begins(packet []byte) bool {
	const version, length, id, random = 1, 5, 6, 8
	if len(packet) <= length || packet[0]&0xf0 != 0xc0 || quic.Version(binary.BigEndian.Uint32(packet[version:])) != quic.Version1 {
		return false // not an Initial packet (RFC 9000, section 17.2.2)
	}
	own := id + int(packet[length]) // the length of the client's own
	return packet[length] >= random && len(packet) > own && packet[own] == 0
}
