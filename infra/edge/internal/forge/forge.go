// Package forge makes what an attacker sends: the first packet of a QUIC handshake, which nobody continues. Only tests use it.
// It imports only the standard library.
package forge

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"slices"
)

const (
	packetBytes = 1200 // the smallest datagram that may carry an Initial (RFC 9000, section 14.1)
	idBytes     = 8
	pnBytes     = 4
	version1    = 1
)

// Initials makes client Initials (RFC 9000, section 17.2.2) with one ClientHello, each with another connection ID.
type Initials struct {
	sourceID []byte
	payload  []byte // a CRYPTO frame, then PADDING
}

// NewInitials makes the ClientHello that all of the packets carry. Its server name is name.
func NewInitials(name string) (*Initials, error) {
	f := &Initials{sourceID: randomBytes(idBytes)}
	hello, err := clientHello(name, f.sourceID)
	if err != nil {
		return nil, err
	}
	const crypto = 0x06
	f.payload = append([]byte{crypto, 0}, varint16(len(hello))...)
	f.payload = append(f.payload, hello...)
	padded := packetBytes - len(f.header(make([]byte, idBytes))) - tagBytes
	if len(f.payload) > padded {
		return nil, errors.New("the ClientHello does not fit into one packet")
	}
	f.payload = append(f.payload, make([]byte, padded-len(f.payload))...)
	return f, nil
}

// clientHello returns the first message of a TLS handshake for HTTP/3.
func clientHello(name string, sourceID []byte) ([]byte, error) {
	conn := tls.QUICClient(&tls.QUICConfig{TLSConfig: &tls.Config{
		ServerName: name, NextProtos: []string{"h3"}, MinVersion: tls.VersionTLS13,
		CurvePreferences: []tls.CurveID{tls.X25519}, // with a post-quantum key it would need two packets
	}})
	defer conn.Close()
	// RFC 9000, section 18.2: initial_source_connection_id.
	conn.SetTransportParameters(append([]byte{0x0f, byte(len(sourceID))}, sourceID...))
	if err := conn.Start(context.Background()); err != nil {
		return nil, err
	}
	for {
		switch event := conn.NextEvent(); event.Kind {
		case tls.QUICWriteData:
			return slices.Clone(event.Data), nil
		case tls.QUICNoEvent:
			return nil, errors.New("no ClientHello")
		}
	}
}

const tagBytes = 16

// header is the packet's header up to and with its packet number, 0.
func (f *Initials) header(destinationID []byte) []byte {
	h := []byte{0xc0 | (pnBytes - 1)}
	h = binary.BigEndian.AppendUint32(h, version1)
	h = append(append(h, byte(len(destinationID))), destinationID...)
	h = append(append(h, byte(len(f.sourceID))), f.sourceID...)
	h = append(h, 0) // no token
	h = append(h, varint16(packetBytes-len(h)-2)...)
	return append(h, make([]byte, pnBytes)...)
}

// Next returns another packet, whose destination connection ID is random.
func (f *Initials) Next() ([]byte, error) {
	destinationID := randomBytes(idBytes)
	keys, err := initialKeys(destinationID)
	if err != nil {
		return nil, err
	}
	packet := f.header(destinationID)
	headerBytes := len(packet)
	packet = keys.aead.Seal(packet, keys.iv, f.payload, packet)
	// RFC 9001, section 5.4: header protection.
	numberAt := headerBytes - pnBytes
	mask := make([]byte, aes.BlockSize)
	keys.header.Encrypt(mask, packet[numberAt+4:numberAt+4+aes.BlockSize])
	packet[0] ^= mask[0] & 0x0f
	for i := range pnBytes {
		packet[numberAt+i] ^= mask[1+i]
	}
	return packet, nil
}

// keys protect a client's Initials (RFC 9001, section 5.2).
type keys struct {
	aead   cipher.AEAD
	iv     []byte
	header cipher.Block
}

var initialSalt = []byte{
	0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f, 0x0a,
}

func initialKeys(destinationID []byte) (k keys, err error) {
	secret, err := hkdf.Extract(sha256.New, destinationID, initialSalt)
	if err != nil {
		return k, err
	}
	client, err := expandLabel(secret, "client in", sha256.Size)
	if err != nil {
		return k, err
	}
	var block cipher.Block
	for label, use := range map[string]func([]byte) error{
		"quic key": func(key []byte) error { block, err = aes.NewCipher(key); return err },
		"quic hp":  func(key []byte) error { k.header, err = aes.NewCipher(key); return err },
	} {
		key, err := expandLabel(client, label, 16)
		if err != nil {
			return k, err
		}
		if err := use(key); err != nil {
			return k, err
		}
	}
	if k.aead, err = cipher.NewGCM(block); err != nil {
		return k, err
	}
	k.iv, err = expandLabel(client, "quic iv", 12) // the packet number is 0, so it is the nonce too
	return k, err
}

// expandLabel is HKDF-Expand-Label (RFC 8446, section 7.1) without a context.
func expandLabel(secret []byte, label string, length int) ([]byte, error) {
	const prefix = "tls13 "
	info := binary.BigEndian.AppendUint16(nil, uint16(length))
	info = append(info, byte(len(prefix)+len(label)))
	info = append(append(info, prefix+label...), 0)
	return hkdf.Expand(sha256.New, secret, string(info), length)
}

// varint16 is n as a variable-length integer of two bytes (RFC 9000, section 16).
func varint16(n int) []byte { return binary.BigEndian.AppendUint16(nil, 0x4000|uint16(n)) }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: crypto/rand ends the program instead
	return b
}
