package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/k6/altsvc"
)

// openQUIC opens a QUIC connection to the alternative from a socket of its own, so that no two clients share a port. The
// socket's buffers and the flow control windows are quic-go's own choice.
func (s *Session) openQUIC(ctx context.Context, alternative altsvc.Alternative) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.config.QUICTimeoutMs*1e6))
	defer cancel()
	host := alternative.Host
	if host == s.config.Origin.Host {
		host = s.config.Origin.Address
	}
	remote, err := net.ResolveUDPAddr("udp", net.JoinHostPort(host, strconv.Itoa(alternative.Port)))
	if err != nil {
		return nil, err
	}
	transport, err := s.newTransport(s.from())
	if err != nil {
		return nil, err
	}
	resumption := s.config.Resumption
	dial := transport.Dial
	if resumption.EarlyData {
		dial = transport.DialEarly
	}
	began := time.Now()
	conn, err := dial(ctx, remote, s.tlsConfig(http3.NextProtoH3, resumption.quic), &quic.Config{TokenStore: resumption.tokens})
	if err != nil {
		return nil, fmt.Errorf("QUIC handshake: %w", err)
	}
	handshake := MsOf(time.Since(began))
	if size := s.config.UDPReceiveBufferBytes; size > 0 {
		// quic-go has set its own by now.
		if err := setReceiveBuffer(transport.Conn.(*net.UDPConn), size); err != nil {
			_ = conn.CloseWithError(0, "")
			return nil, err
		}
	}
	client := (&http3.Transport{DisableCompression: true}).NewClientConn(conn)
	return &connection{
		RoundTripper: client,
		Connection:   Connection{Protocol: H3, Handshake: handshake},
		alive:        func() bool { return conn.Context().Err() == nil },
		// Returns once CONNECTION_CLOSE is sent, so that the server need not wait for its idle timeout.
		close:   func() { _ = client.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") },
		migrate: func(ctx context.Context, to netip.Addr) error { return s.migrate(ctx, conn, to) },
		resumed: func() (resumed, earlyData bool) {
			state := conn.ConnectionState()
			return state.TLS.DidResume, state.Used0RTT
		},
	}, nil
}

// newTransport opens a socket, which ends with the session.
func (s *Session) newTransport(from netip.Addr) (*quic.Transport, error) {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: from.AsSlice()})
	if err != nil {
		return nil, fmt.Errorf("opening a UDP socket: %w", err)
	}
	transport := &quic.Transport{Conn: socket}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transports = append(s.transports, transport)
	return transport, nil
}

// setReceiveBuffer sets exactly this size, beyond net.core.rmem_max, which takes a privilege.
func setReceiveBuffer(socket *net.UDPConn, size int) error {
	raw, err := socket.SyscallConn()
	if err == nil {
		var setErr error
		err = raw.Control(func(fd uintptr) {
			setErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, size)
		})
		err = errors.Join(err, setErr)
	}
	if err != nil {
		return fmt.Errorf("setting the UDP receive buffer to %d bytes: %w", size, err)
	}
	return nil
}
