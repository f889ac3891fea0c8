package tunpath

// pool is the memory of the packets in one direction: of slots that were never used the kernel makes none. Not safe for
// concurrent use.
type pool struct {
	slotBytes int
	memory    []byte
	sizes     []int32 // of the packet in each slot
	free      []int32
}

// maxSlots bounds the memory at 98 MB a direction for packets of 1500 bytes: 600 Mbit/s over 1.3 s.
const maxSlots = 1 << 16

func newPool(slotBytes int) *pool {
	p := &pool{slotBytes, make([]byte, maxSlots*slotBytes), make([]int32, maxSlots), make([]int32, maxSlots)}
	for i := range p.free {
		p.free[i] = int32(i)
	}
	return p
}

// take is false when the bound is reached.
func (p *pool) take() (slot int32, ok bool) {
	last := len(p.free) - 1
	if last < 0 {
		return 0, false
	}
	slot = p.free[last]
	p.free = p.free[:last]
	return slot, true
}

func (p *pool) give(slot int32) { p.free = append(p.free, slot) }

func (p *pool) bytes(slot int32) []byte { return p.memory[int(slot)*p.slotBytes:][:p.slotBytes] }

func (p *pool) packet(slot int32) []byte { return p.bytes(slot)[:p.sizes[slot]] }
