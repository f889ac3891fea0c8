package quicserver

import (
	"fmt"
	"syscall"
)

// wantedBuffer is what quic-go asks the kernel for, in bytes (its desiredBufferSize). The kernel gives at most twice what its two
// settings say, and counts its own part of each packet in it. Of a burst that does not fit, packets are lost before anybody reads them.
const wantedBuffer = 7 << 20

// SmallBuffers says what to set if the kernel gave the socket smaller buffers than quic-go wants; otherwise it returns "".
func (q *Server) SmallBuffers() string {
	raw, err := q.Socket().SyscallConn()
	if err != nil {
		return ""
	}
	receive, send := wantedBuffer, wantedBuffer
	_ = raw.Control(func(fd uintptr) {
		if n, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF); err == nil {
			receive = n
		}
		if n, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF); err == nil {
			send = n
		}
	})
	return smallBuffers(receive, send)
}

func smallBuffers(receive, send int) string {
	if receive >= wantedBuffer && send >= wantedBuffer {
		return ""
	}
	return fmt.Sprintf("the kernel gives the UDP socket %d KiB to receive and %d KiB to send; QUIC wants %d KiB, so that bursts are not lost here: "+
		"set net.core.rmem_max and net.core.wmem_max to 7500000", receive>>10, send>>10, wantedBuffer>>10)
}
