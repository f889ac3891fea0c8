package quicserver

import (
	"fmt"
	"time"
)

const (
	watchInterval = time.Second
	// During a flood the socket's queue loses some questions.
	watchPatience = 3
)

// watch asks the server from outside, because a socket can exist and be deaf. While the server does not answer, watch keeps
// Serves false.
func (q *Server) watch() {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	misses := 0
	for {
		select {
		case <-q.closing:
			return
		case <-ticker.C:
		}
		s := q.current()
		if err := Answers(q.options.ReachedAt, watchInterval); err != nil {
			if misses++; misses == watchPatience && q.options.Serves.CompareAndSwap(true, false) {
				q.options.Log.Report("HTTP/3", fmt.Sprintf("UDP port %d does not answer (%v): nothing offers it meanwhile", q.options.Address.Port(), err))
			}
			continue
		}
		misses = 0
		// The socket that answered is the one that serves.
		if s == q.current() && q.options.Serves.CompareAndSwap(false, true) {
			q.options.Log.Report("HTTP/3 back", fmt.Sprintf("UDP port %d answers again", q.options.Address.Port()))
		}
	}
}
