// Package handover shares a UDP socket between a program and the ones before it that still drain, without losing a packet of their
// QUIC connections. It imports quic-go, x/net and x/sys, and no package of this module.
//
// All of them have the same socket, and a packet goes to whoever reads first. So only the newest reads. The connection IDs that a
// program chooses begin with its tag, and whoever reads passes a packet with another's tag on to it, over a Unix socket.
package handover

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"golang.org/x/net/ipv4"
)

const (
	tagBytes = 2
	// With as many random bytes as quic-go's own connection IDs have.
	idBytes = tagBytes + 4
	// How many packets may wait for a program. What comes beyond is lost, as on the network.
	waiting = 512
	// How long a program may take to stop reading.
	patience = time.Second
)

type tag [tagBytes]byte

// Socket is a UDP socket of several programs. It goes to quic.Transport as its Conn, and as its ConnectionIDGenerator.
type Socket struct {
	*net.UDPConn
	batch *ipv4.PacketConn
	tag   tag

	listener    *net.UnixListener
	onSuccessor func()
	feeds       atomic.Int32 // programs that read in our place
	inbox       chan []byte  // what they pass on; nil: look again
	closed      context.Context
	end         func() // ends closed

	mu     sync.Mutex
	before map[tag]*net.UnixConn // to the programs before, as long as they run
}

// Join shares the socket of the address with the programs before, which meet in the folder. From then on they do not read
// from it. onSuccessor is called when another program has joined.
func Join(folder string, address netip.AddrPort, udp *net.UDPConn, onSuccessor func()) (*Socket, error) {
	s := &Socket{
		UDPConn: udp, batch: ipv4.NewPacketConn(udp), onSuccessor: onSuccessor,
		inbox: make(chan []byte, waiting), before: map[tag]*net.UnixConn{},
	}
	s.closed, s.end = context.WithCancel(context.Background())
	prefix := fmt.Sprintf("quic-%s-", address)
	if err := s.meet(folder, prefix); err != nil {
		return nil, err
	}
	_, _ = rand.Read(s.tag[:]) // never fails: crypto/rand ends the program instead
	var err error
	path := filepath.Join(folder, prefix+hex.EncodeToString(s.tag[:]))
	if s.listener, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"}); err != nil {
		return nil, fmt.Errorf("cannot meet the programs before in %s: %w", folder, err)
	}
	go s.accept()
	return s, nil
}

// meet connects to the programs before. A socket that nobody has any more is removed.
func (s *Socket) meet(folder, prefix string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		text, is := strings.CutPrefix(entry.Name(), prefix)
		raw, err := hex.DecodeString(text)
		if !is || err != nil || len(raw) != tagBytes {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
		if err != nil {
			_ = os.Remove(path)
			continue
		}
		// It says so once it does not read any more.
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.SetReadDeadline(time.Time{})
		s.mu.Lock()
		s.before[tag(raw)] = conn
		s.mu.Unlock()
		go s.untilGone(tag(raw), conn)
	}
	return nil
}

// untilGone returns when a program before has ended, or its socket was closed here.
func (s *Socket) untilGone(t tag, conn *net.UnixConn) {
	_, _ = conn.Read(make([]byte, 1))
	_ = conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.before, t)
}

// accept meets the programs after.
func (s *Socket) accept() {
	for {
		conn, err := s.listener.AcceptUnix()
		if err != nil {
			return
		}
		go s.takeFrom(conn)
	}
}

// takeFrom takes the packets that a program after passes on. While there is one, nothing is read from the socket.
func (s *Socket) takeFrom(conn *net.UnixConn) {
	defer conn.Close()
	if s.feeds.Add(1) == 1 {
		_ = s.UDPConn.SetReadDeadline(time.Unix(1, 0))
	}
	_, _ = conn.Write([]byte{1})
	s.onSuccessor()
	buf := make([]byte, maxMessage)
	for {
		n, err := conn.Read(buf)
		if err != nil || n == 0 {
			break
		}
		s.put(append([]byte(nil), buf[:n]...))
	}
	if s.feeds.Add(-1) == 0 { // it has died: the socket has nobody else
		_ = s.UDPConn.SetReadDeadline(time.Time{})
		s.put(nil)
	}
}

func (s *Socket) put(message []byte) {
	select {
	case s.inbox <- message:
	case <-s.closed.Done():
	}
}

// ReadBatch reads packets for this program. It is called instead of the socket's own (quic-go, sys_conn_oob.go).
func (s *Socket) ReadBatch(ms []ipv4.Message, flags int) (int, error) {
	for {
		if s.feeds.Load() > 0 {
			select {
			case message := <-s.inbox:
				if message != nil && take(message, &ms[0]) {
					return 1, nil
				}
				continue
			case <-s.closed.Done():
				return 0, os.ErrDeadlineExceeded
			}
		}
		n, err := s.batch.ReadBatch(ms, flags)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && s.feeds.Load() > 0 {
				continue
			}
			return n, err
		}
		s.passOn(ms[:n])
		return n, nil
	}
}

// passOn passes on the packets of programs before. quic-go ignores a packet without bytes.
func (s *Socket) passOn(ms []ipv4.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.before) == 0 {
		return
	}
	for i := range ms {
		t, ok := tagOf(ms[i].Buffers[0][:ms[i].N])
		if conn := s.before[t]; ok && conn != nil {
			send(conn, &ms[i])
			ms[i].N = 0
		}
	}
}

// Succeeded says whether a program after this one reads.
func (s *Socket) Succeeded() bool { return s.feeds.Load() > 0 }

// SetReadDeadline ends reading, as quic.Transport does at its end.
func (s *Socket) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		s.end()
	}
	return s.UDPConn.SetReadDeadline(t)
}

// Close closes the socket of this program. Others may have it still.
func (s *Socket) Close() error {
	s.end()
	_ = s.listener.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.before {
		_ = conn.Close()
	}
	return s.UDPConn.Close()
}

// GenerateConnectionID makes a connection ID that begins with the tag.
func (s *Socket) GenerateConnectionID() (quic.ConnectionID, error) {
	id := make([]byte, idBytes)
	_, _ = rand.Read(id[copy(id, s.tag[:]):])
	return quic.ConnectionIDFromBytes(id), nil
}

// ConnectionIDLen is the length of all connection IDs.
func (s *Socket) ConnectionIDLen() int { return idBytes }
