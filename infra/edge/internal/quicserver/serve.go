package quicserver

import (
	"fmt"
	"time"
)

const (
	watchInterval = time.Second
	// During a flood the socket's queue loses some questions.
	watchPatience = 3

	// reopenPause is the time between two attempts to bind a socket again. It doubles up to reopenPauseMost.
	reopenPause     = 100 * time.Millisecond
	reopenPauseMost = 5 * time.Second
)

// Serve returns after Shutdown. Meanwhile it keeps the server alive, and Serves true only while it answers. Its socket can go: another
// program may destroy it (ss -K), or its interface may lose the address. It can also exist and be deaf, so Serve asks it from outside.
func (q *Server) Serve() {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	misses := 0
	for {
		select {
		case <-q.closing:
			return
		case err := <-q.now.Load().ended:
			if q.ending() {
				return
			}
			q.options.Serves.Store(false)
			q.say("HTTP/3", "does not serve any more (%v): nothing offers it meanwhile", err)
			q.now.Load().close()
			if !q.reopen() {
				return
			}
			q.say("HTTP/3 back", "serves again")
		case <-ticker.C:
			if err := Answers(q.options.ReachedAt, watchInterval); err == nil {
				misses = 0
				if q.options.Serves.CompareAndSwap(false, true) {
					q.say("HTTP/3 back", "answers again")
				}
			} else if misses++; misses == watchPatience && q.options.Serves.CompareAndSwap(true, false) {
				q.say("HTTP/3", "does not answer (%v): nothing offers it meanwhile", err)
			}
		}
	}
}

// say reports what happens to the UDP port.
func (q *Server) say(kind, what string, args ...any) {
	q.options.Log.Report(kind, fmt.Sprintf("UDP port %d ", q.options.Address.Port())+fmt.Sprintf(what, args...))
}

// reopen tries to bind a socket again, until it has one (true) or Shutdown comes (false).
func (q *Server) reopen() bool {
	for pause := reopenPause; ; pause = min(2*pause, reopenPauseMost) {
		udp, err := q.options.Bind()
		if err == nil {
			if err = q.open(udp); err == nil {
				break
			}
			udp.Close()
		}
		q.say("HTTP/3", "cannot be served again yet: %v", err)
		select {
		case <-q.closing:
			return false
		case <-time.After(pause):
		}
	}
	if q.ending() {
		q.now.Load().close()
	}
	return !q.ending()
}
