package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/internal/quicprobe"
)

// quicServer serves HTTP/3 on one UDP address, and on a new socket when the one that it had is gone. While it does not
// serve, nothing here offers it.
type quicServer struct {
	e         *edge
	tcp       *net.TCPListener // the same port number
	tlsConfig *tls.Config
	// ReverseProxy aborts a response that breaks off only where it finds a server in the context; without it a visitor over
	// HTTP/3 would take a truncated body for a whole one.
	inContext *http.Server

	serves  atomic.Bool   // and answers
	closing chan struct{} // closed at the end
	end     sync.Once

	mu  sync.Mutex
	now quicSocket
}

// quicSocket is what serves on one socket.
type quicSocket struct {
	udp       *net.UDPConn
	transport *quic.Transport
	listener  http3.QUICListener
	http3     *http3.Server
}

// reopenPause is the time between two tries to have a socket again; it doubles up to the most.
const (
	reopenPause     = 100 * time.Millisecond
	reopenPauseMost = 5 * time.Second
)

func (e *edge) newQUICServer(s socket, tlsConfig *tls.Config, inContext *http.Server) (*quicServer, error) {
	q := &quicServer{
		e: e, tcp: s.tcp, tlsConfig: http3.ConfigureTLSConfig(tlsConfig.Clone()), inContext: inContext,
		closing: make(chan struct{}),
	}
	if err := q.open(s.udp); err != nil {
		return nil, fmt.Errorf("cannot serve HTTP/3 on %s: %w", s.address(), err)
	}
	return q, nil
}

// open makes ready what serves on the socket.
func (q *quicServer) open(udp *net.UDPConn) error {
	e := q.e
	s := quicSocket{udp: udp, transport: &quic.Transport{Conn: udp}}
	if e.retry {
		s.transport.VerifySourceAddress = func(net.Addr) bool { return true }
	}
	var err error
	if s.listener, err = e.listenQUIC(s.transport, q.tlsConfig); err != nil {
		return err
	}
	s.http3 = &http3.Server{
		// Otherwise every acceptor's port would be joined into an Alt-Svc header, which nobody asks for.
		Port:           q.port(),
		Handler:        e.handler,
		MaxHeaderBytes: maxHeaderBytes,
		IdleTimeout:    idleTimeout,
		ConnContext: func(ctx context.Context, qc *quic.Conn) context.Context {
			ctx = context.WithValue(ctx, http.ServerContextKey, q.inContext)
			return withConnection(ctx, e.acceptQUIC(qc))
		},
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.now = s
	q.serves.Store(true)
	return nil
}

func (q *quicServer) current() quicSocket {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.now
}

// quicAcceptors wait for connections of a listener. quic-go refuses a connection while 32 others wait to be accepted, and
// a browser that was refused calls QUIC broken for minutes. A single acceptor that a busy machine lets wait for some
// milliseconds is enough for that: of 400 clients at once 37 to 187 were refused, of these none. 2.7 MB of
// stacks and heap for each listener.
const quicAcceptors = 512

// serve serves until the end. A socket can go: another program destroyed it (ss -K), its interface's address went.
func (q *quicServer) serve() {
	go q.watch()
	for {
		s := q.current()
		ended := make(chan error, quicAcceptors)
		for range quicAcceptors {
			go func() { ended <- s.http3.ServeListener(s.listener) }()
		}
		err := <-ended
		if q.ending() {
			return
		}
		q.serves.Store(false)
		q.e.log.report("HTTP/3", fmt.Sprintf("UDP port %d does not serve any more (%v): nothing offers it meanwhile", q.port(), err))
		s.close()
		for range quicAcceptors - 1 {
			<-ended
		}
		if !q.reopen() {
			return
		}
		q.e.log.report("HTTP/3 back", fmt.Sprintf("UDP port %d serves again", q.port()))
	}
}

const (
	watchInterval = time.Second
	// Of a flood some questions are lost in the socket's queue.
	watchPatience = 3
)

// watch asks the server from outside, and has nothing offer it while it does not answer: a socket can also be deaf.
func (q *quicServer) watch() {
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
		if err := quicprobe.Answers(q.reachedAt(), watchInterval); err != nil {
			if misses++; misses == watchPatience && q.serves.CompareAndSwap(true, false) {
				q.e.log.report("HTTP/3", fmt.Sprintf("UDP port %d does not answer (%v): nothing offers it meanwhile", q.port(), err))
			}
			continue
		}
		misses = 0
		// The socket that answered is the one that serves.
		if s == q.current() && q.serves.CompareAndSwap(false, true) {
			q.e.log.report("HTTP/3 back", fmt.Sprintf("UDP port %d answers again", q.port()))
		}
	}
}

// reachedAt is where the server is reached from this machine.
func (q *quicServer) reachedAt() netip.AddrPort {
	at := q.tcp.Addr().(*net.TCPAddr).AddrPort()
	switch {
	case !at.Addr().IsUnspecified():
		return at
	case at.Addr().Is4():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	default:
		return netip.AddrPortFrom(netip.IPv6Loopback(), at.Port())
	}
}

// reopen tries to have a socket again, until it has one or the end comes.
func (q *quicServer) reopen() bool {
	pause := reopenPause
	for {
		udp, err := listenUDP(q.tcp)
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
		q.e.log.report("HTTP/3", fmt.Sprintf("UDP port %d cannot be served again yet: %v", q.port(), err))
		select {
		case <-q.closing:
			return false
		case <-time.After(pause):
			pause = min(2*pause, reopenPauseMost)
		}
	}
}

func (q *quicServer) address() string { return q.tcp.Addr().String() }

func (q *quicServer) port() int { return q.tcp.Addr().(*net.TCPAddr).Port }

func (q *quicServer) ending() bool {
	select {
	case <-q.closing:
		return true
	default:
		return false
	}
}

// shutdown sends GOAWAY, waits for the requests, then closes; grace bounds it. http3.Server.Shutdown alone would wait for
// clients to close their connections, which a browser at rest may not do within any timeout.
func (q *quicServer) shutdown(grace context.Context) {
	q.end.Do(func() { close(q.closing) })
	s := q.current()
	_ = s.listener.Close() // connections that exist stay
	_ = s.http3.Shutdown(grace)
}

// close ends what is left of the socket.
func (s quicSocket) close() {
	_ = s.transport.Close()
	_ = s.udp.Close()
}
