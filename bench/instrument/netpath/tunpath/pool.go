package tunpath

// pool is the memory of the packets in one direction. It grows to its bound by chunks and never shrinks; afterwards
// nothing is allocated. Not safe for concurrent use.
type pool struct {
	slotBytes int
	chunks    [][]byte
	sizes     []int32 // of the packet in each slot
	free      []int32
}

const (
	slotsPerChunk = 1024
	// maxSlots bounds the memory at 98 MB a direction for packets of 1500 bytes: 600 Mbit/s over 1.3 s.
	maxSlots = 1 << 16
)

func newPool(slotBytes int) *pool {
	return &pool{slotBytes: slotBytes, free: make([]int32, 0, maxSlots)}
}

// take is false when the bound is reached.
func (p *pool) take() (slot int32, ok bool) {
	if len(p.free) == 0 {
		first := len(p.chunks) * slotsPerChunk
		if first >= maxSlots {
			return 0, false
		}
		p.chunks = append(p.chunks, make([]byte, slotsPerChunk*p.slotBytes))
		p.sizes = append(p.sizes, make([]int32, slotsPerChunk)...)
		for i := slotsPerChunk - 1; i >= 0; i-- {
			p.free = append(p.free, int32(first+i))
		}
	}
	slot = p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return slot, true
}

func (p *pool) give(slot int32) { p.free = append(p.free, slot) }

func (p *pool) bytes(slot int32) []byte {
	at := int(slot) % slotsPerChunk * p.slotBytes
	return p.chunks[int(slot)/slotsPerChunk][at : at+p.slotBytes]
}

func (p *pool) packet(slot int32) []byte { return p.bytes(slot)[:p.sizes[slot]] }
