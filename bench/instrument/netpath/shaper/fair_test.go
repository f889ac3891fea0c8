package shaper

import (
	"math"
	"testing"
)

// 12 Mbit/s: 1500 bytes take 1 ms.
var fairSettings = Settings{RateMbps: 12, QueueBytes: 1_500_000, Queue: FQCoDel}

// link is a shaper, and what left and what went by slot.
type link struct {
	*Shaper
	left map[int32]int64
	gone map[int32]Verdict
}

func newLink(settings Settings) *link {
	s := New(4096)
	s.Configure(0, settings, 1, 0)
	return &link{s, map[int32]int64{}, map[int32]Verdict{}}
}

func (l *link) run(untilNs int64) {
	for {
		next, ok := l.Next()
		if !ok || next > untilNs {
			break
		}
		l.pop(next)
	}
	l.pop(untilNs)
}

func (l *link) pop(nowNs int64) {
	for {
		slot, releaseNs, ok := l.Pop(nowNs)
		if !ok {
			break
		}
		l.left[slot] = releaseNs
	}
	for _, gone := range l.Gone() {
		l.gone[gone.Slot] = gone.Verdict
	}
}

func (l *link) arrive(t *testing.T, nowNs int64, size int, slot int32, flow uint32) {
	t.Helper()
	if verdict := l.ArriveIn(nowNs, size, slot, flow); verdict != Accepted {
		t.Fatalf("packet %d: verdict %v", slot, verdict)
	}
}

func TestFairSharesByBytes(t *testing.T) {
	l := newLink(fairSettings)
	// 100 large packets of one flow, then 200 of half the size of another: each gets half of the link.
	for i := range int32(100) {
		l.arrive(t, 0, 1500, i, 1)
	}
	for i := range int32(200) {
		l.arrive(t, 0, 750, 100+i, 2)
	}
	l.run(100 * ms)
	large, small := 0, 0
	for slot := range l.left {
		if slot < 100 {
			large++
		} else {
			small++
		}
	}
	if large < 48 || large > 52 || small < 96 || small > 104 {
		t.Errorf("in 100 ms left %d of 1500 bytes and %d of 750", large, small)
	}
}

func TestFairSparseFlowDoesNotWait(t *testing.T) {
	l := newLink(fairSettings)
	for i := range int32(400) {
		l.arrive(t, 0, 1500, i, 1)
	}
	for i := range int32(10) {
		at := int64(10*ms) + int64(i)*7*ms + 300_000
		l.run(at)
		slot := 1000 + i
		l.arrive(t, at, 100, slot, 2)
		l.run(at + 3*ms)
		// At most what is being sent, and one packet whose turn it is.
		if wait := l.left[slot] - at; wait <= 0 || wait > 2*ms+100_000 {
			t.Errorf("packet %d of the sparse flow waited %d us", i, wait/1_000)
		}
	}
}

func TestFairReleasesAtTheLinksPace(t *testing.T) {
	l := newLink(Settings{RateMbps: 12, DelayMs: 5, QueueBytes: 1_500_000, Queue: FQCoDel})
	l.arrive(t, 0, 1500, 0, 1)
	l.arrive(t, 100, 1500, 1, 2)
	l.arrive(t, 200, 1500, 2, 3)
	// Whoever asks late finds the same times.
	l.pop(50 * ms)
	for slot, want := range []int64{6 * ms, 7 * ms, 8 * ms} {
		if l.left[int32(slot)] != want {
			t.Errorf("packet %d left at %d, not %d", slot, l.left[int32(slot)], want)
		}
	}
}

func TestFairDropsBySquareRoot(t *testing.T) {
	l := newLink(fairSettings)
	// A flow of a fifth more than the link carries, which does not yield.
	slot := int32(0)
	var droppedAt []int64
	for at := int64(0); at < 900*ms; at += ms * 5 / 6 {
		before := len(l.gone)
		l.run(at)
		if len(l.gone) > before {
			droppedAt = append(droppedAt, at)
		}
		l.arrive(t, at, 1500, slot, 1)
		slot = (slot + 1) % 4096
	}
	if len(droppedAt) < 5 {
		t.Fatalf("dropped %d times", len(droppedAt))
	}
	// Above 5 ms after some 30 ms; the first drop is an interval later, the next ones follow by 100, 71, 58 ms.
	if first := droppedAt[0] / ms; first < 125 || first > 140 {
		t.Errorf("the first drop is at %d ms", first)
	}
	for i := range 3 {
		want := 100 / math.Sqrt(float64(i+1))
		if gap := float64(droppedAt[i+1]-droppedAt[i]) / ms; math.Abs(gap-want) > 3 {
			t.Errorf("drop %d came %.1f ms after the one before, not %.1f", i+2, gap, want)
		}
	}
	// A queue that is gone is dropped from no more.
	l.run(3_000 * ms)
	dropped := len(l.gone)
	for i := range int32(50) {
		at := 3_000*ms + int64(i)*2*ms
		l.run(at)
		l.arrive(t, at, 1500, i, 1)
	}
	l.run(4_000 * ms)
	if len(l.gone) != dropped || l.Held() != 0 || l.WaitingBytes(4_000*ms) != 0 {
		t.Errorf("after the queue was empty %d more were dropped, %d are held", len(l.gone)-dropped, l.Held())
	}
}

func TestFairFullQueueDropsFromTheLongest(t *testing.T) {
	settings := fairSettings
	settings.QueueBytes = 30_000
	l := newLink(settings)
	for i := range int32(4) {
		l.arrive(t, 0, 1500, 1000+i, 2)
	}
	for i := range int32(40) {
		l.arrive(t, 0, 1500, i, 1)
		if waiting := l.WaitingBytes(0); waiting > 30_000 {
			t.Fatalf("%d bytes wait", waiting)
		}
	}
	l.pop(0)
	if len(l.gone) == 0 {
		t.Fatal("nothing was dropped")
	}
	for slot := range l.gone {
		if slot >= 1000 {
			t.Errorf("packet %d of the short queue was dropped", slot)
		}
	}
}

func TestFairFollowsARateChange(t *testing.T) {
	l := newLink(fairSettings)
	for i := range int32(10) {
		l.arrive(t, 0, 1500, i, 1)
	}
	l.run(2 * ms)
	half := fairSettings
	half.RateMbps = 6
	l.Change(2*ms, half)
	l.run(100 * ms)
	// Two have left; the third was to leave at 3 ms.
	for slot, want := range map[int32]int64{1: 2 * ms, 2: 4 * ms, 3: 6 * ms, 9: 18 * ms} {
		if l.left[slot] != want {
			t.Errorf("packet %d left at %d us, not %d", slot, l.left[slot]/1_000, want/1_000)
		}
	}
}

func TestFairWireStillLoses(t *testing.T) {
	settings := fairSettings
	settings.LossRatio = 1
	l := newLink(settings)
	l.arrive(t, 0, 1500, 7, 1)
	l.run(10 * ms)
	if verdict, ok := l.gone[7]; !ok || verdict != DroppedLoss || len(l.left) != 0 {
		t.Errorf("left %v, gone %v", l.left, l.gone)
	}
}

func TestFairMemoryIsBounded(t *testing.T) {
	s := New(16)
	settings := fairSettings
	s.Configure(0, settings, 1, 0)
	full := 0
	for i := range int32(64) {
		if s.ArriveIn(0, 100, i, 1) == DroppedFull {
			full++
		}
	}
	if full == 0 || s.Held() > 32 {
		t.Errorf("%d did not fit, %d are held", full, s.Held())
	}
	if allocations := testing.AllocsPerRun(100, func() {
		s.Pop(s.nowNs + 10*ms)
		s.Gone()
		s.ArriveIn(s.nowNs, 100, 1, 1)
	}); allocations != 0 {
		t.Errorf("a packet takes %v allocations", allocations)
	}
}
