package unread

import (
	"time"

	"adaptive-h3/infra/edge/internal/visitor"
)

// wait is how long one write has been under way, and what its connection's client took meanwhile.
type wait struct {
	write uint64    // which write
	began time.Time // when a look first found it

	// The span of time over which the rate is judged. It begins again after every Timeout.
	since time.Time
	taken uint64 // bytes, at since
}

// measuredAfter is the time after which a wait is worth a system call.
const measuredAfter = time.Second

// look notes that this write is under way. It says whether no look had found it before.
func (s *wait) look(write uint64, now time.Time, c *visitor.Connection) (isNew bool) {
	if write != s.write || s.began.IsZero() {
		*s = wait{write: write, began: now}
		return true
	}
	if s.since.IsZero() && now.Sub(s.began) >= measuredAfter {
		s.since, s.taken = s.began, c.TakenBytes()
	}
	return false
}

// tooSlow says whether the connection's client took less than the rate, over the whole timeout.
func (s *wait) tooSlow(now time.Time, c *visitor.Connection, limits Limits) bool {
	lasted := now.Sub(s.since)
	if s.since.IsZero() || lasted < limits.Timeout {
		return false
	}
	taken := c.TakenBytes()
	if float64(taken-min(s.taken, taken)) < float64(limits.Rate)*lasted.Seconds() {
		return true
	}
	s.since, s.taken = now, taken
	return false
}
