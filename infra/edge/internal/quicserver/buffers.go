package quicserver

import (
	"fmt"
	"syscall"
)

// wantedBuffer is what quic-go asks the kernel for, in bytes (its desiredBufferSize). The kernel gives at most twice what its two
// settings say, and counts its own part of each packet in it. Of a burst that does not fit, packets are lost before anybody reads them.
const wantedBuffer = 7 << 20

// Buffers are the sizes of a UDP socket's buffers as the kernel has them, and what quic-go wants of each, in bytes.
type Buffers struct{ Receive, Send, Wanted int }

// Buffers returns those of the socket. What cannot be read is taken to be as wanted.
func (q *Server) Buffers() Buffers {
	b := Buffers{wantedBuffer, wantedBuffer, wantedBuffer}
	raw, err := q.Socket().SyscallConn()
	if err != nil {
		return b
	}
	_ = raw.Control(func(fd uintptr) {
		if n, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF); err == nil {
			b.Receive = n
		}
		if n, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF); err == nil {
			b.Send = n
		}
	})
	return b
}

// SmallBuffers says what to set if the kernel gave the socket smaller buffers than quic-go wants; otherwise it returns "".
func (q *Server) SmallBuffers() string { return q.Buffers().small() }

func (b Buffers) small() string {
	if b.Receive >= b.Wanted && b.Send >= b.Wanted {
		return ""
	}
	return fmt.Sprintf("the kernel gives the UDP socket %d KiB to receive and %d KiB to send; QUIC wants %d KiB, so that bursts are not lost here: "+
		"set net.core.rmem_max and net.core.wmem_max to 7500000", b.Receive>>10, b.Send>>10, b.Wanted>>10)
}
