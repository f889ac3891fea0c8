package admission

import (
	"net/netip"
	"time"
)

// seat is a place in flight.
type seat struct {
	client netip.Prefix
	began  time.Time
	long   bool

	older, newer *seat // among those that are not long
}

// seats are those that are not long, in the order in which they began.
type seats struct{ oldest, newest *seat }

func (l *seats) add(s *seat) {
	s.older = l.newest
	if l.newest == nil {
		l.oldest = s
	} else {
		l.newest.newer = s
	}
	l.newest = s
}

func (l *seats) remove(s *seat) {
	if s.older == nil {
		l.oldest = s.newer
	} else {
		s.older.newer = s.newer
	}
	if s.newer == nil {
		l.newest = s.older
	} else {
		s.newer.older = s.older
	}
	s.older, s.newer = nil, nil
}
