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
	text := `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    9    0     0       0          0
tun0-x: 1 2 3 4 5 6 7 8 9 10 11 77 13 14 15 16
`
	for name, want := range map[string]uint64{"lo": 9, "tun0-x": 77, "tun0": 0} {
		if got := transmitDrops([]byte(text), name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
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
