package handover

import (
	"net"
	"net/netip"
	"os"
	"testing"

	"golang.org/x/net/ipv4"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// copyOf returns another descriptor of the same socket, as a successor inherits it.
func copyOf(t *testing.T, udp *net.UDPConn) *net.UDPConn {
	t.Helper()
	file, err := udp.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	conn, err := net.FilePacketConn(file)
	if err != nil {
		t.Fatal(err)
	}
	return conn.(*net.UDPConn)
}

// reads gives what a program reads from its socket, from whom.
func reads(s *Socket) <-chan string {
	out := make(chan string, 10)
	go func() {
		defer close(out)
		for {
			ms := []ipv4.Message{{OOB: make([]byte, 128), Buffers: [][]byte{make([]byte, 1500)}}}
			n, err := s.ReadBatch(ms, 0)
			if err != nil {
				return
			}
			for _, m := range ms[:n] {
				if m.N > 0 {
					out <- m.Addr.String() + " " + string(m.Buffers[0][m.N-4:m.N])
				}
			}
		}
	}()
	return out
}

// Packets go to the program whose tag they have, the others to the newest, also where programs come and go.
func TestPacketsFindTheirProgram(t *testing.T) {
	folder := t.TempDir()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	client, err := net.DialUDP("udp", nil, udp.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	send := func(id []byte, text string) {
		t.Helper()
		packet := append(append([]byte{0x40}, id...), "........................"+text...)
		if _, err := client.Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, from <-chan string, text string) {
		t.Helper()
		if got := edgetest.Receive(t, what, from); got != client.LocalAddr().String()+" "+text {
			t.Errorf("%s: %q", what, got)
		}
	}
	joined := func() (*Socket, []byte, <-chan string, chan struct{}) {
		t.Helper()
		followed := make(chan struct{}, 10)
		s, err := Join(folder, netip.MustParseAddrPort("127.0.0.1:443"), copyOf(t, udp), func() { followed <- struct{}{} })
		if err != nil {
			t.Fatal(err)
		}
		id, err := s.GenerateConnectionID()
		if err != nil || id.Len() != s.ConnectionIDLen() {
			t.Fatal(id, err)
		}
		return s, id.Bytes(), reads(s), followed
	}
	nobodys := make([]byte, idBytes)

	first, firstID, toFirst, followed := joined()
	send(firstID, "own1")
	want("the only program", toFirst, "own1")
	second, secondID, toSecond, _ := joined()
	edgetest.Receive(t, "the first has a successor", followed)
	if !first.Succeeded() || second.Succeeded() {
		t.Error("who has a successor?")
	}
	third, thirdID, toThird, _ := joined()
	for range 3 {
		send(firstID, "to 1")
		want("the first", toFirst, "to 1")
		send(secondID, "to 2")
		want("the second", toSecond, "to 2")
		send(thirdID, "to 3")
		want("the third", toThird, "to 3")
		send(nobodys, "new.")
		want("the newest", toThird, "new.")
	}
	_ = third.Close()
	_ = second.Close()
	edgetest.Eventually(t, "the first reads again", func() bool { return !first.Succeeded() })
	send(nobodys, "rest")
	want("who is left", toFirst, "rest")
	_ = first.Close()
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
