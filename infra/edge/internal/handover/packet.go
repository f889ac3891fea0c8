package handover

import (
	"encoding/json"
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// maxMessage is more than a message takes.
const maxMessage = 4 << 10

// message is a packet that one program passes on to another.
type message struct {
	From    netip.AddrPort
	Control []byte // the kernel's control messages: the packet's ECN mark, and the address that it was sent to
	Packet  []byte
}

// send passes a packet on. It does not wait: where the program before reads too slowly, the packet is lost, as on the network.
func send(to *net.UnixConn, m *ipv4.Message) {
	text, err := json.Marshal(message{m.Addr.(*net.UDPAddr).AddrPort(), m.OOB[:m.NN], m.Buffers[0][:m.N]})
	if err != nil {
		return
	}
	raw, err := to.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Write(func(fd uintptr) bool {
		_ = unix.Send(int(fd), text, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		return true
	})
}

// tagOf returns the tag in the connection ID that a packet is for (RFC 8999, sections 5.1 and 5.2). A client's own choice for
// its first packet is random, and has 8 bytes or more (RFC 9000, section 7.2).
func tagOf(packet []byte) (t tag, ok bool) {
	const short, length, long = 1, 5, 6
	switch {
	case len(packet) < long+tagBytes:
		return t, false
	case packet[0]&0x80 == 0:
		return tag(packet[short:]), true
	case packet[length] != idBytes:
		return t, false
	}
	return tag(packet[long:]), true
}

// take puts the packet that was passed on as text into m.
func take(text []byte, m *ipv4.Message) bool {
	var passed message
	if json.Unmarshal(text, &passed) != nil {
		return false
	}
	m.Addr = net.UDPAddrFromAddrPort(passed.From)
	m.N, m.NN = copy(m.Buffers[0], passed.Packet), copy(m.OOB, passed.Control)
	return true
}
