package quicserver

import (
	"bytes"
	"testing"
)

func TestWhichPacketsBeginAHandshake(t *testing.T) {
	const initial, handshake, initialOfVersion2 = 0xc3, 0xe3, 0xd3
	// packet is the beginning of one with a long header (RFC 9000, section 17.2).
	packet := func(first byte, version string, server, own int) []byte {
		p := append([]byte{first}, version...)
		p = append(append(p, byte(server)), bytes.Repeat([]byte{1}, server)...)
		return append(append(p, byte(own)), bytes.Repeat([]byte{2}, own+40)...)
	}
	const one, two = "\x00\x00\x00\x01", "\x6b\x33\x43\xcf"
	whole := packet(initial, one, 8, 0)
	for _, test := range []struct {
		name   string
		packet []byte
		want   bool
	}{
		{"Chromium's first", whole, true},
		{"one with a longer random ID", packet(initial, one, 20, 0), true},
		{"Firefox' first", packet(initial, one, 8, 3), false},
		{"one to an ID that quic-go chose", packet(initial, one, 4, 0), false},
		{"one to an ID of a shared socket", packet(initial, one, 6, 0), false},
		{"a later one of the handshake", packet(handshake, one, 8, 0), false},
		{"one of another version", packet(initialOfVersion2, two, 8, 0), false},
		{"one that asks for the versions", packet(initial, "\x00\x00\x00\x00", 8, 0), false},
		{"one of an open connection", append([]byte{0x43}, whole[1:]...), false},
		{"one that ends in its IDs", whole[:10], false},
		{"one that ends before them", whole[:5], false},
		{"an empty one", nil, false},
	} {
		if got := begins(test.packet); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
