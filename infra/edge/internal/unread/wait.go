package unread

import (
	"time"

	"adaptive-h3/infra/edge/connpath"
)

// wait is how long one write has been under way, and what its connection's client took meanwhile.
type wait struct {
	write uint64    // which write
	began time.Time // when a look first found it

	// The span of time over which the rate is judged. It begins again after every Timeout.
	since time.Time
	taken uint64 // bytes, at since

	// The last seconds, looked at while more responses wait than may.
	lately      time.Time
	takenLately uint64 // bytes, at lately
	stands      bool   // the client took too little in them
}

const (
	// measuredAfter is the time after which a wait is worth a system call.
	measuredAfter = time.Second
	// lateness is how long a client is looked at before it counts as one who does not read. The kernel of a client that reads 30 kB/s
	// makes room only every 2.2 s (measured over loopback, whose segments have 64 KB), and quic-go's client every 4.3 s: when it has read
	// a quarter of a window of 512 KB. On a busy machine one of 360 such clients took more than 5 s.
	lateness = 10 * time.Second
)

// look notes that this write is under way. It says whether no look had found it before.
func (s *wait) look(write uint64, now time.Time, c *connpath.Connection) (isNew bool) {
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
func (s *wait) tooSlow(now time.Time, c *connpath.Connection, limits Limits) bool {
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

// notRead says whether the connection's client took less than the rate over the last seconds, for each of so many responses that wait
// on the connection. Nothing is known before a write has waited for that long.
func (s *wait) notRead(now time.Time, c *connpath.Connection, rate, waiting int) bool {
	lasted := now.Sub(s.lately)
	if !s.lately.IsZero() && lasted < lateness {
		return s.stands
	}
	taken := c.TakenBytes()
	if !s.lately.IsZero() {
		s.stands = float64(taken-min(s.takenLately, taken)) < float64(rate*waiting)*lasted.Seconds()
	}
	s.lately, s.takenLately = now, taken
	return s.stands
}
