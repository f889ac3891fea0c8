package tunpath

import "golang.org/x/sys/unix"

// What an IP packet's header says (RFC 791, RFC 8200; extension headers are not looked into).
const (
	ipv4, ipv4Bytes = 4, 20
	ipv6, ipv6Bytes = 6, 40
)

func isUDP(packet []byte) bool {
	if len(packet) < ipv4Bytes {
		return false
	}
	switch packet[0] >> 4 {
	case ipv4:
		return packet[9] == unix.IPPROTO_UDP
	case ipv6:
		return packet[6] == unix.IPPROTO_UDP
	}
	return false
}

// flowHash is FNV-1a of a packet's protocol, addresses and ports. Packets of other protocols than IP are one flow.
func flowHash(packet []byte) uint32 {
	const portsBytes = 4
	hash := uint32(2_166_136_261)
	write := func(protocol, addresses, ports int) {
		if ports < addresses || len(packet) < ports+portsBytes {
			return
		}
		hash = (hash ^ uint32(packet[protocol])) * 16_777_619
		for _, b := range packet[addresses : ports+portsBytes] {
			hash = (hash ^ uint32(b)) * 16_777_619
		}
	}
	if len(packet) < ipv4Bytes {
		return hash
	}
	switch packet[0] >> 4 {
	case ipv4:
		// Options stand between addresses and ports, and are the same for a flow.
		write(9, 12, 4*int(packet[0]&15))
	case ipv6:
		write(6, 8, ipv6Bytes)
	}
	return hash
}
