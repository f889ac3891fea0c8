package shaper

import "math"

// fair is fq_codel (RFC 8290): a queue for each flow, served in turn by bytes, and CoDel (RFC 8289) on each of them. It drops where
// fq_codel may also mark: no packet is changed.
type fair struct {
	flows    [flowCount]flow
	newFlows flowList
	oldFlows flowList
	bytes    int64
	newestNs int64 // the latest arrival

	nodes []queued // of all queues; those that are free are a list
	free  int32
	held  int
}

// What RFC 8290 has as defaults, section 5.2.
const (
	flowCount    = 1024
	quantumBytes = 1514
	targetNs     = 5_000_000
	intervalNs   = 100_000_000
	maxPacket    = 1514
	// At most so many packets go at once from the longest queue (section 4.1.3).
	batchDropped = 64
)

const none = -1

type queued struct {
	arrivedNs int64
	size      int32
	slot      int32
	next      int32
}

type flow struct {
	first, last int32 // its packets
	bytes       int64
	credit      int64 // what it may still send in its turn, bytes
	next        int32 // the flow after it in its list
	listed      bool

	// CoDel, in the words of RFC 8289 section 5.
	firstAboveNs int64 // 0: the sojourn time is below the target
	dropNextNs   float64
	count        int
	lastCount    int
	dropping     bool
}

type flowList struct{ first, last int32 }

func newFair(capacity int) *fair {
	f := &fair{newFlows: flowList{none, none}, oldFlows: flowList{none, none}, nodes: make([]queued, capacity), free: none}
	for i := range f.flows {
		f.flows[i] = flow{first: none, last: none, next: none}
	}
	for i := range f.nodes {
		f.nodes[i].next = f.free
		f.free = int32(i)
	}
	return f
}

// enqueue is false if the memory is full. dropped gets the slots that had to go for the packet.
func (f *fair) enqueue(nowNs int64, size, slot int32, hash uint32, limitBytes int64, dropped func(slot int32)) bool {
	node := f.free
	if node == none {
		return false
	}
	f.free = f.nodes[node].next
	f.nodes[node] = queued{arrivedNs: nowNs, size: size, slot: slot, next: none}
	index := int32(hash % flowCount)
	own := &f.flows[index]
	if own.last == none {
		own.first = node
	} else {
		f.nodes[own.last].next = node
	}
	own.last = node
	own.bytes += int64(size)
	f.bytes += int64(size)
	f.held++
	f.newestNs = nowNs
	if !own.listed {
		own.listed, own.credit = true, quantumBytes
		f.append(&f.newFlows, index)
	}
	if f.bytes > limitBytes {
		f.shorten(limitBytes, dropped)
	}
	return true
}

// shorten drops from the head of the longest queue: half of it, as RFC 8290 has it, so that the search for it is rare.
func (f *fair) shorten(limitBytes int64, dropped func(slot int32)) {
	longest := &f.flows[0]
	for i := range f.flows {
		if f.flows[i].bytes > longest.bytes {
			longest = &f.flows[i]
		}
	}
	half := longest.bytes / 2
	for n := 0; n < batchDropped && longest.first != none && (longest.bytes > half || f.bytes > limitBytes); n++ {
		dropped(f.pop(longest).slot)
		longest.count++ // it counts as CoDel's own, as in Linux
	}
}

// dequeue takes what the bottleneck sends next. dropped gets the slots that CoDel drops.
func (f *fair) dequeue(nowNs int64, dropped func(slot int32)) (size, slot int32, ok bool) {
	for {
		list := &f.newFlows
		if list.first == none {
			list = &f.oldFlows
		}
		index := list.first
		if index == none {
			return 0, 0, false
		}
		own := &f.flows[index]
		if own.credit <= 0 {
			own.credit += quantumBytes
			f.move(list)
			continue
		}
		packet, any := f.codel(own, nowNs, dropped)
		if !any {
			// A new flow that is empty goes through the old ones once, so that it cannot be new again and again (section 4.2).
			if list == &f.newFlows && f.oldFlows.first != none {
				f.move(list)
			} else {
				f.take(list)
				own.listed = false
			}
			continue
		}
		own.credit -= int64(packet.size)
		return packet.size, packet.slot, true
	}
}

// codel is the dequeue of RFC 8289, section 5.4.
func (f *fair) codel(own *flow, nowNs int64, dropped func(slot int32)) (queued, bool) {
	packet, any, mayDrop := f.judge(own, nowNs)
	if !any {
		own.dropping = false
		return packet, false
	}
	if own.dropping {
		if !mayDrop {
			own.dropping = false
		}
		for own.dropping && float64(nowNs) >= own.dropNextNs {
			dropped(packet.slot)
			own.count++
			if packet, any, mayDrop = f.judge(own, nowNs); !any || !mayDrop {
				own.dropping = false
			} else {
				own.dropNextNs = controlLaw(own.dropNextNs, own.count)
			}
		}
	} else if mayDrop {
		dropped(packet.slot)
		packet, any, _ = f.judge(own, nowNs)
		own.dropping = true
		// Where it dropped a short while ago, it begins near the rate that worked then.
		delta := own.count - own.lastCount
		own.count = 1
		if delta > 1 && float64(nowNs)-own.dropNextNs < 16*intervalNs {
			own.count = delta
		}
		own.dropNextNs = controlLaw(float64(nowNs), own.count)
		own.lastCount = own.count
	}
	return packet, any
}

// judge takes the next packet of a flow, and says whether packets have waited above the target for an interval.
func (f *fair) judge(own *flow, nowNs int64) (packet queued, any, mayDrop bool) {
	if own.first == none {
		own.firstAboveNs = 0
		return queued{}, false, false
	}
	packet = f.pop(own)
	switch {
	case nowNs-packet.arrivedNs < targetNs || own.bytes <= maxPacket:
		own.firstAboveNs = 0
	case own.firstAboveNs == 0:
		own.firstAboveNs = nowNs + intervalNs
	default:
		mayDrop = nowNs >= own.firstAboveNs
	}
	return packet, true, mayDrop
}

func controlLaw(ns float64, count int) float64 { return ns + intervalNs/math.Sqrt(float64(count)) }

// pop takes a flow's first packet; there is one.
func (f *fair) pop(own *flow) queued {
	index := own.first
	node := f.nodes[index]
	own.first = node.next
	if own.first == none {
		own.last = none
	}
	own.bytes -= int64(node.size)
	f.bytes -= int64(node.size)
	f.held--
	f.nodes[index].next = f.free
	f.free = index
	return node
}

func (f *fair) append(list *flowList, index int32) {
	f.flows[index].next = none
	if list.last == none {
		list.first = index
	} else {
		f.flows[list.last].next = index
	}
	list.last = index
}

func (f *fair) take(list *flowList) int32 {
	index := list.first
	list.first = f.flows[index].next
	if list.first == none {
		list.last = none
	}
	return index
}

// move puts the first flow of a list behind the old ones.
func (f *fair) move(list *flowList) { f.append(&f.oldFlows, f.take(list)) }
