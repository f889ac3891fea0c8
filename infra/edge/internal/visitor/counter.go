package visitor

import "sync/atomic"

// Counter counts the writes of one writer, so that another goroutine can tell whether one is under way, and whether it is the
// same one as before. It costs two additions a write, and no look at a clock.
type Counter struct{ n atomic.Uint64 }

// Begin counts a write that begins.
func (c *Counter) Begin() { c.n.Add(1) }

// End counts its end.
func (c *Counter) End() { c.n.Add(1) }

// Pending returns the number of the write, and whether it is under way.
func (c *Counter) Pending() (write uint64, pending bool) {
	n := c.n.Load()
	return n, n%2 == 1
}
