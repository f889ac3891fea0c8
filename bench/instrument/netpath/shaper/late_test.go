package shaper

import (
	"math"
	"slices"
	"testing"
)

// A late packet leaves as much later than its turn as it should; all others leave at their turn, and the same ones are lost.
func TestLatePackets(t *testing.T) {
	const packets, share, by = 20_000, 0.03, 3 * ms
	settings := Settings{RateBps: 12e6, QueueBytes: 1 << 30, DelayNs: 10 * ms, LossRatio: 0.01}
	turns := func(settings Settings) []int64 {
		s := New(1 << 15)
		s.Configure(0, settings, 1, 0)
		for i := range int32(packets) {
			s.Arrive(0, 1500, i)
		}
		at := make([]int64, packets)
		last := int64(0)
		for slot, ns, ok := s.Pop(1 << 60); ok; slot, ns, ok = s.Pop(1 << 60) {
			if ns < last {
				t.Fatalf("%d comes out after one that leaves at %d", ns, last)
			}
			at[slot], last = ns, ns
		}
		return at
	}
	plain := turns(settings)
	settings.Late = Late{Share: share, ByNs: by}
	late := 0
	for i, ns := range turns(settings) {
		switch ns - plain[i] {
		case 0:
		case by:
			late++
		default:
			t.Fatalf("packet %d leaves at %d instead of %d", i, ns, plain[i])
		}
	}
	if sigma := math.Sqrt(packets * share * (1 - share)); math.Abs(float64(late)-packets*share) > 4*sigma {
		t.Errorf("%d of %d are late", late, packets)
	}
}

// What is late is still in the path, and Next says when it is due.
func TestLatePacketIsWaitedFor(t *testing.T) {
	s := New(16)
	s.Configure(0, Settings{DelayNs: ms, Late: Late{Share: 1, ByNs: 3 * ms}}, 1, 0)
	s.Arrive(0, 1500, 7)
	if _, _, ok := s.Pop(2 * ms); ok || s.Held() != 1 {
		t.Fatalf("left at its turn; %d held", s.Held())
	}
	s.Change(2*ms, Settings{DelayNs: ms, Late: Late{Share: 1, ByNs: 1}})
	s.Arrive(2*ms, 1500, 8) // less late than the one before
	var left []int32
	for at, ok := s.Next(); ok; at, ok = s.Next() {
		if slot, _, popped := s.Pop(at); popped {
			left = append(left, slot)
		}
	}
	if !slices.Equal(left, []int32{8, 7}) || s.Held() != 0 {
		t.Errorf("left: %v, %d held", left, s.Held())
	}
}
