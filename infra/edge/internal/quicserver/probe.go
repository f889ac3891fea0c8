package quicserver

import (
	"net"
	"net/netip"
	"time"
)

// Answers asks in a version that does not exist. The server's answer, a Version Negotiation packet (RFC 9000, section 6.1), costs it no
// state and shows that its socket and what reads it are alive; not that a handshake succeeds. It is nil, or why there was no answer.
func Answers(server netip.AddrPort, timeout time.Duration) error {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(server))
	if err != nil {
		return err
	}
	defer c.Close()
	// A long header packet (RFC 8999, section 5.1) of a reserved version (RFC 9000, section 15: 0x?a?a?a?a), with connection IDs of no
	// bytes, and no smaller than a server answers (section 14.1).
	question := make([]byte, 1200)
	copy(question, "\xc0\x1a\x2a\x3a\x4a")
	if _, err := c.Write(question); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, err = c.Read(question) // from the server alone, as the kernel sees to it
	return err
}
