package quicserver

import (
	"bytes"
	"crypto/rand"
	"net"
	"net/netip"
	"time"
)

const (
	// The smallest datagram that a server answers with a Version Negotiation packet (RFC 9000, section 6.1).
	minInitialBytes = 1200
	idBytes         = 8
)

// reservedVersion is one that no server speaks (RFC 9000, section 15: 0x?a?a?a?a).
var reservedVersion = []byte{0x1a, 0x2a, 0x3a, 0x4a}

// Answers asks in a version that does not exist. The server's answer, a Version Negotiation packet, costs it no state and
// shows that its socket and what reads it are alive; not that a handshake succeeds. It is nil, or why there was no answer.
func Answers(server netip.AddrPort, timeout time.Duration) error {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(server))
	if err != nil {
		return err
	}
	defer c.Close()
	question, sourceID := newQuestion()
	if _, err := c.Write(question); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	answer := make([]byte, 1500)
	for {
		n, err := c.Read(answer)
		if err != nil {
			return err
		}
		if isVersionNegotiation(answer[:n], sourceID) {
			return nil
		}
	}
}

// newQuestion makes a long header packet (RFC 8999, section 5.1), padded.
func newQuestion() (packet, sourceID []byte) {
	packet = make([]byte, 0, minInitialBytes)
	packet = append(packet, 0xc0)
	packet = append(packet, reservedVersion...)
	ids := make([]byte, 2*idBytes)
	_, _ = rand.Read(ids) // never fails: crypto/rand ends the program instead
	packet = append(packet, idBytes)
	packet = append(packet, ids[:idBytes]...)
	packet = append(packet, idBytes)
	packet = append(packet, ids[idBytes:]...)
	return packet[:minInitialBytes], ids[idBytes:]
}

// isVersionNegotiation says whether a packet is the answer to a question from sourceID (RFC 8999, section 6).
func isVersionNegotiation(packet, sourceID []byte) bool {
	const version, id = 1, 5
	return len(packet) > id+1+len(sourceID) && packet[0]&0x80 != 0 &&
		bytes.Equal(packet[version:id], []byte{0, 0, 0, 0}) &&
		int(packet[id]) == len(sourceID) && bytes.Equal(packet[id+1:id+1+len(sourceID)], sourceID)
}
