package handover

import (
	"net"
	"net/netip"
	"os"
	"testing"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

func TestTagOf(t *testing.T) {
	long := append([]byte{0xc0, 0, 0, 0, 1, idBytes, 0xaa, 0xbb, 1, 2, 3, 4}, make([]byte, 20)...)
	chosenByClient := append([]byte{0xc0, 0, 0, 0, 1, 8, 0xaa, 0xbb}, make([]byte, 20)...)
	for name, tc := range map[string]struct {
		packet []byte
		want   tag
		ok     bool
	}{
		"short header":            {append([]byte{0x40, 0xaa, 0xbb}, make([]byte, 20)...), tag{0xaa, 0xbb}, true},
		"long header":             {long, tag{0xaa, 0xbb}, true},
		"a client's first packet": {chosenByClient, tag{}, false},
		"cut off":                 {long[:7], tag{}, false},
		"empty":                   {nil, tag{}, false},
	} {
		if got, ok := tagOf(tc.packet); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %x, %v", name, got, ok)
		}
	}
}

// A packet arrives with its sender and its control messages; what is no packet is ignored.
func TestPassedPacket(t *testing.T) {
	for _, address := range []string{"192.0.2.1:5", "[::ffff:192.0.2.1]:5", "[2001:db8::1]:65535", "[fe80::1%lo]:5"} {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		var ends []*net.UnixConn
		for _, fd := range fds {
			file := os.NewFile(uintptr(fd), "end")
			conn, err := net.FileConn(file)
			file.Close()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ends = append(ends, conn.(*net.UnixConn))
		}
		from := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(address))
		send(ends[0], &ipv4.Message{Addr: from, OOB: []byte("control"), NN: 3, Buffers: [][]byte{[]byte("packet")}, N: 4})
		text := make([]byte, maxMessage)
		n, err := ends[1].Read(text)
		if err != nil {
			t.Fatal(err)
		}
		out := ipv4.Message{OOB: make([]byte, 10), Buffers: [][]byte{make([]byte, 10)}}
		if !take(text[:n], &out) || out.Addr.String() != from.String() || string(out.OOB[:out.NN]) != "con" || string(out.Buffers[0][:out.N]) != "pack" {
			t.Errorf("%s: %+v", address, out)
		}
		if take(text[:n-1], &out) {
			t.Errorf("%s: a part is enough", address)
		}
	}
}
