package tunpath

import (
	"testing"

	"golang.org/x/sys/unix"
)

func ipv4Packet(words int, protocol byte, source byte, port byte) []byte {
	packet := make([]byte, 4*words+8)
	packet[0] = 4<<4 | byte(words)
	packet[9], packet[15], packet[4*words+1] = protocol, source, port
	return packet
}

func ipv6Packet(protocol byte, source byte, port byte) []byte {
	packet := make([]byte, ipv6Bytes+8)
	packet[0], packet[6], packet[23], packet[ipv6Bytes+1] = 6<<4, protocol, source, port
	return packet
}

func TestFlowHashTellsFlowsApart(t *testing.T) {
	const tcp, udp = unix.IPPROTO_TCP, unix.IPPROTO_UDP
	packets := map[string][]byte{
		"ipv4":                ipv4Packet(5, tcp, 1, 1),
		"another protocol":    ipv4Packet(5, udp, 1, 1),
		"another address":     ipv4Packet(5, tcp, 2, 1),
		"another port":        ipv4Packet(5, tcp, 1, 2),
		"options":             ipv4Packet(6, tcp, 1, 1),
		"ipv6":                ipv6Packet(tcp, 1, 1),
		"ipv6, another port":  ipv6Packet(tcp, 1, 2),
		"ipv6, another proto": ipv6Packet(udp, 1, 1),
	}
	seen := map[uint32]string{}
	for name, packet := range packets {
		hash := flowHash(packet)
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s are one flow", name, other)
		}
		seen[hash] = name
		// What follows the ports is the packet's own.
		packet[len(packet)-1] = 9
		if flowHash(packet) != hash {
			t.Errorf("%s: packets of a flow are of two", name)
		}
	}
}

func TestFlowHashOfWhatIsNoPacket(t *testing.T) {
	for _, packet := range [][]byte{nil, {0x45}, make([]byte, 20), {0x41, 19: 0}, {0x4f, 19: 0}, {0x60, 39: 0}} {
		flowHash(packet)
	}
}
