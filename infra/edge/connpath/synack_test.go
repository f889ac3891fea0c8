package connpath

import (
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A SYN-ACK that was sent again is no lost data, though the kernel counts it as data that was sent again.
func TestSYNACKThatIsSentAgainIsNoLoss(t *testing.T) {
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client := dialDeaf(t, ln.Addr().String(), 300*time.Millisecond)
	accepted, err := ln.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	c, err := (&Listener{}).measured(accepted, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if sent := infoOf(t, accepted).Total_retrans; sent == 0 {
		t.Fatal("the kernel counts no SYN-ACK that was sent again: there is nothing to try")
	}
	if _, err := c.Write(edgetest.Pattern(1000)); err != nil {
		t.Fatal(err)
	}
	if _, err := (<-client).Read(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if r, ok := c.conn.Read(); !ok || r.PacketsLost != 0 || r.Retransmitted != 0 || r.PacketsSent != 1 {
		t.Errorf("%+v", r)
	}
}

// dialDeaf connects with a socket to which nothing comes for a time.
func dialDeaf(t *testing.T, address string, lasts time.Duration) <-chan net.Conn {
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		_ = raw.Control(func(fd uintptr) {
			err = deafen(int(fd))
			own, _ := unix.Dup(int(fd))
			time.AfterFunc(lasts, func() { _ = hear(own); unix.Close(own) })
		})
		return err
	}}
	dialed := make(chan net.Conn, 1)
	go func() {
		conn, err := dialer.Dial("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { conn.Close() })
		dialed <- conn
	}()
	return dialed
}

// deafen lets nothing come to a socket any more; hear lets it again.
func deafen(fd int) error {
	nothing := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 0}}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &nothing[0]})
}

func hear(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) }

func infoOf(t *testing.T, c *net.TCPConn) *unix.TCPInfo {
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	info := tcpInfo(raw)
	if info == nil {
		t.Fatal("the socket is closed")
	}
	return info
}
