// Package quicserver serves HTTP/3 on one UDP address, and binds another socket when the first one is gone. Of this
// module it imports admission (for a count), connpath, errorlog and handover; of other modules, quic-go and x/net.
package quicserver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/handover"
)

// Options are what a server needs.
type Options struct {
	Address   netip.AddrPort // as it was announced
	ReachedAt netip.AddrPort // where this machine reaches it
	UDP       *net.UDPConn
	// Bind binds another UDP socket of that address, when UDP is gone.
	Bind func() (*net.UDPConn, error)
	TLS  *tls.Config // the server changes a copy of it

	Handler http.Handler
	// InContext is the server in the context of requests. ReverseProxy aborts a response that breaks off only where it finds
	// one there; without it a visitor over HTTP/3 would take a truncated body for a whole one.
	InContext      *http.Server
	MaxHeaderBytes int
	MaxStreams     int  // requests on a connection, at a time
	EarlyData      bool // take 0-RTT
	// Waits says whether a handshake of a client is left unanswered for now; nil: none is. It must be fast: nothing else is read meanwhile.
	Waits      func(client netip.Addr) bool
	Handshakes *Handshakes // bounds those in progress, of all servers that share it
	// ResetSecret outlives the socket, the process and the certificate: a client learns from it that its connection is gone, with
	// the first packet that it sends. Otherwise it would wait for its own idle timeout.
	ResetSecret [32]byte

	Registry *connpath.Registry
	// Stack names the senders of the address.
	Stack *connpath.Stack
	// OnClose sees every connection once, while its statistics can still be read.
	OnClose func(*connpath.Connection)
	// Serves is true while the server serves and answers, and the server keeps it so. Nothing offers HTTP/3 while it is false.
	Serves *atomic.Bool
	Log    *errorlog.Log

	// Shared says that other programs have the socket too, before this one and after it. They meet in Folder, and OnSuccessor is
	// called when one has come after this.
	Shared      bool
	Folder      string
	OnSuccessor func()
}

// Server serves HTTP/3 on one UDP address.
type Server struct {
	options Options
	tls     *tls.Config

	closing chan struct{}   // closed at the end
	grace   context.Context // of Shutdown; nil before closing is closed
	end     sync.Once

	now atomic.Pointer[socket]
}

// Socket returns the UDP socket that the server has at the moment.
func (q *Server) Socket() *net.UDPConn { return q.now.Load().udp }

// socket is what serves on one UDP socket.
type socket struct {
	udp       *net.UDPConn
	shared    *handover.Socket // nil: not shared
	transport *quic.Transport
	listener  http3.QUICListener
	ended     <-chan error // why no further connection comes
}

// New makes a server on options.UDP, and accepts connections. Serve has to run too. The error names the address.
func New(options Options) (*Server, error) {
	q := &Server{
		options: options, tls: http3.ConfigureTLSConfig(options.TLS.Clone()), closing: make(chan struct{}),
	}
	if err := q.open(options.UDP); err != nil {
		return nil, fmt.Errorf("cannot serve HTTP/3 on %s: %w", q.options.Address, err)
	}
	return q, nil
}

// open serves on the socket.
func (q *Server) open(udp *net.UDPConn) error {
	resetKey, tokenKey := quic.StatelessResetKey(q.key("")), quic.TokenGeneratorKey(q.key("tokens"))
	s := &socket{udp: udp, transport: &quic.Transport{
		Conn:                udp,
		StatelessResetKey:   &resetKey,
		TokenGeneratorKey:   &tokenKey,
		VerifySourceAddress: q.options.Handshakes.asksForProof,
		ConnContext:         q.options.Handshakes.begin,
	}}
	var err error
	if q.options.Shared {
		if s.shared, err = handover.Join(q.options.Folder, q.options.Address, udp, q.options.OnSuccessor); err != nil {
			q.options.Log.Report("HTTP/3", fmt.Sprintf("at a restart HTTP/3 loses its connections: %v", err))
		} else {
			s.transport.Conn, s.transport.ConnectionIDGenerator = s.shared, s.shared
		}
	}
	if q.options.Waits != nil {
		unhurried := newUnhurried(s.transport.Conn.(udpSocket), q.options.Waits)
		s.transport.Conn = unhurried
		s.transport.VerifySourceAddress = func(client net.Addr) bool {
			return unhurried.hasWaited(client) || q.options.Handshakes.asksForProof(client)
		}
	}
	if s.listener, err = q.listen(s.transport); err != nil {
		return err
	}
	s.ended = acceptAll(s.listener, q.serve)
	q.now.Store(s)
	q.options.Serves.Store(true)
	return nil
}

// key makes a key of this address alone. With a key for several addresses, one of them would tell the reset tokens of
// another's connections (RFC 9000, section 21.11).
func (q *Server) key(purpose string) []byte {
	mac := hmac.New(sha256.New, q.options.ResetSecret[:])
	mac.Write([]byte(q.options.Address.String() + purpose))
	return mac.Sum(nil)
}

func (q *Server) ending() bool {
	select {
	case <-q.closing:
		return true
	default:
		return false
	}
}

// Shutdown sends GOAWAY on every QUIC connection of the registry, and does not wait for their clients. A browser at rest may not close its
// connection within any timeout: it is left to Close after grace.
func (q *Server) Shutdown(grace context.Context) {
	q.end.Do(func() {
		q.grace = grace
		close(q.closing)
	})
	if s := q.now.Load(); s.shared == nil || !s.shared.Succeeded() {
		_ = s.listener.Close() // connections that exist stay
	} // else no new ones come, and this would refuse those whose handshakes are under way
	for _, c := range q.options.Registry.Snapshot() {
		if c.Retire != nil {
			go retire(c, grace)
		}
	}
}

// Close ends what Shutdown left: connections whose clients did not close them, and the socket.
func (q *Server) Close() { q.now.Load().close() }

// close ends what is left of the socket.
func (s *socket) close() {
	_ = s.transport.Close()
	if s.shared != nil {
		_ = s.shared.Close()
	}
	_ = s.udp.Close()
}
