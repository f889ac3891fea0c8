package tunpath

import (
	"sync"
	"testing"
)

func TestPool(t *testing.T) {
	p := newPool(4)
	seen := map[int32]bool{}
	for range maxSlots {
		slot, ok := p.take()
		if !ok || seen[slot] {
			t.Fatalf("slot %d (%v) after %d", slot, ok, len(seen))
		}
		seen[slot] = true
		copy(p.bytes(slot), []byte{byte(slot), byte(slot >> 8), 1, 1})
	}
	if _, ok := p.take(); ok {
		t.Error("the bound does not hold")
	}
	for slot := range seen {
		p.sizes[slot] = 2
		if b := p.packet(slot); len(b) != 2 || b[0] != byte(slot) || b[1] != byte(slot>>8) {
			t.Fatalf("slot %d holds %v", slot, b)
		}
	}
	p.give(7)
	if slot, ok := p.take(); !ok || slot != 7 {
		t.Errorf("took %d (%v)", slot, ok)
	}
}

func TestTransmitDrops(t *testing.T) {
	devices := `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    9    0     0       0          0
netpath: 1 2 3 4 5 6 7 8 9 10 11 77 13 14 15 16
`
	for text, want := range map[string]uint64{devices: 77, "": 0, "netpath-2: 1 2 3 4 5 6 7 8 9 10 11 77": 0} {
		if got := transmitDrops([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestLock(t *testing.T) {
	var l lock
	var wait sync.WaitGroup
	n := 0
	for range 4 {
		wait.Go(func() {
			for range 10_000 {
				l.Lock()
				n++
				l.Unlock()
			}
		})
	}
	wait.Wait()
	if n != 40_000 {
		t.Errorf("counted %d", n)
	}
}

func TestIsUDP(t *testing.T) {
	header := func(version, at, protocol byte) []byte {
		packet := make([]byte, 40)
		packet[0], packet[at] = version<<4, protocol
		return packet
	}
	for name, test := range map[string]struct {
		packet []byte
		want   bool
	}{
		"IPv4 UDP": {header(4, 9, 17), true},
		"IPv4 TCP": {header(4, 9, 6), false},
		"IPv6 UDP": {header(6, 6, 17), true},
		"IPv6 TCP": {header(6, 6, 6), false},
		"short":    {header(4, 9, 17)[:19], false},
		"no IP":    {header(5, 9, 17), false},
	} {
		if isUDP(test.packet) != test.want {
			t.Errorf("%s: not %v", name, test.want)
		}
	}
}
