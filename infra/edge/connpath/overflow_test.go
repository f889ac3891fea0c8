package connpath

import (
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"adaptive-h3/infra/edge/internal/edgetest"
)

func TestOverflow(t *testing.T) {
	type seen struct{ sent, lost, window uint64 }
	for _, tc := range []struct {
		name     string
		readings []seen
		left     uint64
	}{
		{"the flight that overflows", []seen{{100, 0, 50}, {400, 0, 200}, {800, 130, 300}}, 0},
		{"the next flight", []seen{{400, 0, 200}, {800, 130, 300}, {1_900, 150, 200}}, 0},
		{"a third flight", []seen{{400, 0, 200}, {800, 130, 300}, {2_001, 150, 200}}, 20},
		{"a later page", []seen{{400, 0, 200}, {800, 130, 300}, {15_000, 430, 300}}, 300},
		{"a timer's end leaves a window of one packet", []seen{{400, 0, 200}, {420, 1, 1}, {600, 130, 40}}, 0},
		{"the network drops packets at random", []seen{{50, 0, 25}, {110, 1, 20}, {1_400, 28, 12}}, 28},
		{"it dropped none of the first hundred", []seen{{110, 0, 50}, {150, 1, 20}, {351, 5, 12}, {1_400, 28, 12}}, 27},
		{"the first reading has a loss", []seen{{800, 130, 300}}, 130},
		{"what seemed lost had come", []seen{{50, 1, 25}, {120, 0, 60}, {800, 130, 300}}, 0},
		{"so had all of a flight", []seen{{400, 0, 200}, {800, 130, 300}, {900, 0, 300}, {9_000, 10, 300}}, 0},
		{"nothing lost", []seen{{400, 0, 200}, {15_000, 0, 300}}, 0},
	} {
		var o overflow
		var left Reading
		for _, s := range tc.readings {
			left = o.leaveOut(Reading{MinRTT: 4 * time.Millisecond, PacketsSent: s.sent, PacketsLost: s.lost, CongestionWindow: s.window})
		}
		if last := tc.readings[len(tc.readings)-1]; left.PacketsLost != tc.left || left.PacketsSent != last.sent {
			t.Errorf("%s: %d lost of %d, want %d", tc.name, left.PacketsLost, left.PacketsSent, tc.left)
		}
	}
}

// There TCP takes long to recover, and HTTP/3 is faster.
func TestOverflowCountsWhereRTTIsLong(t *testing.T) {
	var o overflow
	for _, r := range []Reading{
		{MinRTT: longRTT, PacketsSent: 400, CongestionWindow: 200},
		{MinRTT: longRTT, PacketsSent: 800, PacketsLost: 130, CongestionWindow: 300},
	} {
		if left := o.leaveOut(r); left != r {
			t.Errorf("%+v, not %+v", left, r)
		}
	}
}

// The connection is read while it sends: nobody else asks between the start of a page and its end.
func TestOverflowOfOnePage(t *testing.T) {
	for _, tc := range []struct {
		name  string
		clean int // bytes before the flight that is lost
		isOwn bool
	}{
		{"a flight is lost after many that came", 256 << 10, true},
		{"a flight is lost at once", 16 << 10, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, client := smallPackets(t)
			send := func(bytes int) {
				if _, err := server.Write(edgetest.Pattern(bytes)); err != nil {
					t.Fatal(err)
				}
			}
			receive := func(bytes int) {
				if _, err := io.CopyN(io.Discard, client, int64(bytes)); err != nil {
					t.Fatal(err)
				}
			}
			for left := tc.clean; left > 0; left -= 16 << 10 {
				send(16 << 10)
				receive(16 << 10)
			}
			control(t, client, deafen)
			send(32 << 10)
			time.Sleep(20 * time.Millisecond) // the loopback delivers what the window lets out, to nobody
			control(t, client, hear)
			receive(32 << 10)

			r, ok := server.conn.Read()
			if !ok || r.Retransmitted < 5 {
				t.Fatalf("too little was lost to try anything: %+v", r)
			}
			if isOwn := r.PacketsLost == 0; isOwn != tc.isOwn {
				t.Errorf("%d of %d packets count as lost", r.PacketsLost, r.PacketsSent)
			}
		})
	}
}

// smallPackets connects over the loopback, with packets as small as they are elsewhere.
func smallPackets(t *testing.T) (*tcpConn, *net.TCPConn) {
	ln, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		_ = raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG, 1448) })
		return err
	}}
	client, err := dialer.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	accepted, err := ln.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { accepted.Close() })
	server, err := (&Listener{}).measured(accepted, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return server, client.(*net.TCPConn)
}

// control does something to a connection's socket.
func control(t *testing.T, c *net.TCPConn, do func(fd int) error) {
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if failed := raw.Control(func(fd uintptr) { err = do(int(fd)) }); failed != nil || err != nil {
		t.Fatal(failed, err)
	}
}
