package handover

import (
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// maxMessage is more than a packet, its sender's address and the kernel's control messages take.
const maxMessage = 4 << 10

// send passes a packet on. It does not wait: where the program before reads too slowly, the packet is lost, as on the network.
func send(to *net.UnixConn, m *ipv4.Message) {
	message, ok := pack(m)
	raw, err := to.SyscallConn()
	if !ok || err != nil {
		return
	}
	_ = raw.Write(func(fd uintptr) bool {
		_ = unix.Send(int(fd), message, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
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

// pack puts a packet into a message: the sender's address and the control messages (its ECN mark, and the address that it was
// sent to), each after its length, and the packet.
func pack(m *ipv4.Message) ([]byte, bool) {
	from, ok := m.Addr.(*net.UDPAddr)
	if !ok || m.NN > 255 {
		return nil, false
	}
	address, err := from.AddrPort().MarshalBinary()
	if err != nil || len(address) > 255 {
		return nil, false
	}
	message := make([]byte, 0, 2+len(address)+m.NN+m.N)
	message = append(append(message, byte(len(address))), address...)
	message = append(append(message, byte(m.NN)), m.OOB[:m.NN]...)
	return append(message, m.Buffers[0][:m.N]...), true
}

// unpack is the reverse of pack.
func unpack(message []byte, m *ipv4.Message) bool {
	address, rest, ok := cut(message)
	if !ok {
		return false
	}
	control, packet, ok := cut(rest)
	var from netip.AddrPort
	if !ok || from.UnmarshalBinary(address) != nil || len(packet) > len(m.Buffers[0]) || len(control) > len(m.OOB) {
		return false
	}
	m.Addr = net.UDPAddrFromAddrPort(from)
	m.N, m.NN = copy(m.Buffers[0], packet), copy(m.OOB, control)
	return true
}

func cut(message []byte) (part, rest []byte, ok bool) {
	if len(message) == 0 || len(message) < 1+int(message[0]) {
		return nil, nil, false
	}
	n := 1 + int(message[0])
	return message[1:n], message[n:], true
}
