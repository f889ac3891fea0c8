package quicserver

import (
	"fmt"
	"time"
)

// Serve returns after Shutdown. Meanwhile it keeps the server alive. Its socket can go: another program may destroy it (ss -K), or its interface may
// lose the address.
func (q *Server) Serve() {
	go q.watch()
	for {
		s := q.current()
		err := <-s.ended
		if q.ending() {
			return
		}
		q.options.Serves.Store(false)
		q.options.Log.Report("HTTP/3", fmt.Sprintf("UDP port %d does not serve any more (%v): nothing offers it meanwhile", q.options.Address.Port(), err))
		s.close()
		if !q.reopen() {
			return
		}
		q.options.Log.Report("HTTP/3 back", fmt.Sprintf("UDP port %d serves again", q.options.Address.Port()))
	}
}

// reopenPause is the time between two attempts to bind a socket again. It doubles up to reopenPauseMost.
const (
	reopenPause     = 100 * time.Millisecond
	reopenPauseMost = 5 * time.Second
)

// reopen tries to bind a socket again, until it has one (true) or Shutdown comes (false).
func (q *Server) reopen() bool {
	pause := reopenPause
	for {
		udp, err := q.options.Bind()
		if err == nil {
			if err = q.open(udp); err == nil {
				if q.ending() {
					q.current().close()
					return false
				}
				return true
			}
			udp.Close()
		}
		q.options.Log.Report("HTTP/3", fmt.Sprintf("UDP port %d cannot be served again yet: %v", q.options.Address.Port(), err))
		select {
		case <-q.closing:
			return false
		case <-time.After(pause):
			pause = min(2*pause, reopenPauseMost)
		}
	}
}
