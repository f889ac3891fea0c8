package handover

import (
	"bytes"
	"net"
	"testing"

	"golang.org/x/net/ipv4"
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

func TestPack(t *testing.T) {
	for _, address := range []string{"192.0.2.1:5", "[::ffff:192.0.2.1]:5", "[2001:db8::1]:65535", "[fe80::1%lo]:5"} {
		from, err := net.ResolveUDPAddr("udp", address)
		if err != nil {
			t.Fatal(err)
		}
		in := ipv4.Message{Addr: from, OOB: []byte("control"), NN: 3, Buffers: [][]byte{[]byte("packet")}, N: 4}
		message, ok := pack(&in)
		if !ok {
			t.Fatal(address)
		}
		out := ipv4.Message{OOB: make([]byte, 10), Buffers: [][]byte{make([]byte, 10)}}
		if !unpack(message, &out) || out.Addr.String() != from.String() || string(out.OOB[:out.NN]) != "con" || string(out.Buffers[0][:out.N]) != "pack" {
			t.Errorf("%s: %+v", address, out)
		}
		for n := range len(message) {
			if cut := (ipv4.Message{OOB: make([]byte, 10), Buffers: [][]byte{make([]byte, 10)}}); unpack(message[:n], &cut) && bytes.Equal(cut.Buffers[0][:cut.N], []byte("pack")) {
				t.Errorf("%s: %d bytes are enough", address, n)
			}
		}
	}
	if unpack([]byte{0, 0, 1, 2, 3}, &ipv4.Message{OOB: nil, Buffers: [][]byte{make([]byte, 1)}}) {
		t.Error("an address of no bytes is taken")
	}
}
