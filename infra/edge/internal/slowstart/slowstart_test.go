package slowstart

import (
	"testing"
	"time"
)

const ms = time.Millisecond

// connection is one whose client acknowledges each packet, in rounds.
type connection struct {
	HyStart
	packet int64
	over   bool
}

// round sends so many packets, whose RTTs are the given ones, again and again. It returns by how much a packet of 1,000 bytes lets the window grow.
func (c *connection) round(packets int, rtts ...time.Duration) int64 {
	first := c.packet + 1
	c.packet += int64(packets)
	c.OnPacketSent(c.packet)
	for i := range packets {
		c.over = c.over || c.ShouldExitSlowStart(rtts[i%len(rtts)])
		c.OnPacketAcked(first + int64(i))
	}
	return c.Growth(1000)
}

func (c *connection) expect(t *testing.T, what string, growth, want int64, over bool) {
	t.Helper()
	if growth != want || c.over != over {
		t.Errorf("%s: grows by %d, want %d; over: %v, want %v", what, growth, want, c.over, over)
	}
}

// Where the RTT stays, slow start goes on.
func TestGoesOnWithoutAQueue(t *testing.T) {
	var c connection
	for range 20 {
		c.expect(t, "a round", c.round(32, 50*ms, 53*ms), 1000, false)
	}
}

// A round that is late as a whole slows it down. It goes on as before when the RTT has fallen again.
func TestReturnsAfterALateRound(t *testing.T) {
	var c connection
	c.round(32, 50*ms)
	c.round(32, 50*ms)
	c.expect(t, "a late round", c.round(32, 233*ms), 250, false)
	c.expect(t, "the next", c.round(32, 51*ms), 1000, false)
	for range 10 {
		c.expect(t, "later", c.round(32, 50*ms), 1000, false)
	}
}

// A queue stays: five rounds later slow start is over.
func TestEndsWithAQueue(t *testing.T) {
	var c connection
	c.round(32, 50*ms)
	c.round(32, 50*ms)
	for i := range 5 {
		c.expect(t, "a round with a queue", c.round(32, 60*ms+time.Duration(i)*ms), 250, false)
	}
	c.expect(t, "the sixth", c.round(32, 65*ms), 250, true)
}

// The bound is an eighth of the round before, at least 4 ms and at most 16 ms. Seven samples are too few; the first of a round
// still counts for the one before.
func TestIncreaseThatCounts(t *testing.T) {
	for _, test := range []struct {
		before, after time.Duration
		packets       int
		want          int64
	}{
		{10 * ms, 13 * ms, 32, 1000},
		{10 * ms, 14 * ms, 32, 250},
		{80 * ms, 89 * ms, 32, 1000},
		{80 * ms, 90 * ms, 32, 250},
		{300 * ms, 315 * ms, 32, 1000},
		{300 * ms, 316 * ms, 32, 250},
		{10 * ms, 200 * ms, 8, 1000},
		{10 * ms, 200 * ms, 9, 250},
	} {
		var c connection
		c.round(32, test.before)
		c.round(32, test.before)
		if got := c.round(test.packets, test.after); got != test.want {
			t.Errorf("from %v to %v, %d packets: %d, want %d", test.before, test.after, test.packets, got, test.want)
		}
	}
}

// Anew, what was before does not count.
func TestRestart(t *testing.T) {
	var c connection
	c.round(32, 50*ms)
	c.round(32, 50*ms)
	c.round(32, 60*ms)
	c.Restart()
	c.expect(t, "the first round", c.round(32, 90*ms), 1000, false)
	c.expect(t, "the second", c.round(32, 90*ms), 1000, false)
	c.expect(t, "with a queue", c.round(32, 110*ms), 250, false)
}
