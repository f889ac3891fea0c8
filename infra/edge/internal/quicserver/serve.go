package quicserver

import (
	"fmt"
	"time"
)

// acceptors wait for connections of a listener. quic-go refuses a connection while 32 others wait to be accepted, and
// a browser that was refused calls QUIC broken for minutes. A single acceptor that waits on a busy machine for some
// milliseconds is enough for that: with one acceptor 37 to 187 of 400 simultaneous clients were refused, and with these
// not one. They cost 2.7 MB of stacks and heap for each listener.
const acceptors = 512

// Serve serves until Shutdown. Meanwhile its socket can go: another program may destroy it (ss -K), or its interface may
// lose the address.
func (q *Server) Serve() {
	go q.watch()
	for {
		s := q.current()
		ended := make(chan error, acceptors)
		for range acceptors {
			go func() { ended <- s.http3.ServeListener(s.listener) }()
		}
		err := <-ended
		if q.ending() {
			return
		}
		q.options.Serves.Store(false)
		q.options.Log.Report("HTTP/3", fmt.Sprintf("UDP port %d does not serve any more (%v): nothing offers it meanwhile", q.port(), err))
		s.close()
		for range acceptors - 1 {
			<-ended
		}
		if !q.reopen() {
			return
		}
		q.options.Log.Report("HTTP/3 back", fmt.Sprintf("UDP port %d serves again", q.port()))
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
		q.options.Log.Report("HTTP/3", fmt.Sprintf("UDP port %d cannot be served again yet: %v", q.port(), err))
		select {
		case <-q.closing:
			return false
		case <-time.After(pause):
			pause = min(2*pause, reopenPauseMost)
		}
	}
}
