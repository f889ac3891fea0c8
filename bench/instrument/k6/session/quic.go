package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/k6/altsvc"
)

// openQUIC opens a QUIC connection to the alternative from a socket of its own, so that no two clients share a port. The
// socket's buffers and the flow control windows are quic-go's own choice.
func (s *Session) openQUIC(ctx context.Context, alternative altsvc.Alternative) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.QUICTimeout)
	defer cancel()
	remote, err := s.resolve(ctx, alternative)
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: s.from().AsSlice()})
	if err != nil {
		return nil, fmt.Errorf("opening a UDP socket: %w", err)
	}
	transport := &quic.Transport{Conn: socket}
	release := func() {
		_ = transport.Close()
		_ = socket.Close()
	}
	resumption := s.config.Resumption
	dial, early := transport.Dial, false
	if resumption != nil && resumption.EarlyData {
		dial, early = transport.DialEarly, true
	}
	began := time.Now()
	conn, err := dial(ctx, remote, s.tlsConfig(http3.NextProtoH3, resumption.quicTickets()), &quic.Config{
		TokenStore: resumption.addressTokens(),
	})
	if err != nil {
		release()
		return nil, fmt.Errorf("QUIC handshake: %w", err)
	}
	handshake := time.Since(began)
	if size := s.config.UDPReceiveBuffer; size > 0 {
		// quic-go has set its own by now.
		if err := setReceiveBuffer(socket, size); err != nil {
			_ = conn.CloseWithError(0, "")
			release()
			return nil, err
		}
	}
	client := (&http3.Transport{DisableCompression: true}).NewClientConn(conn)
	var roundTripper http.RoundTripper = client
	if early {
		roundTripper = beforeHandshake(client)
	}
	releaseMoved := func() {}
	return &connection{
		migrate: func(ctx context.Context, to netip.Addr) (err error) {
			releaseMoved, err = migrate(ctx, conn, to)
			return err
		},
		RoundTripper: roundTripper,
		// Known for good once the handshake is complete, which 0-RTT does not wait for.
		resumed: func() (resumed, earlyData bool) {
			state := conn.ConnectionState()
			return state.TLS.DidResume, state.Used0RTT
		},
		Connection: Connection{
			Protocol:  H3,
			LocalPort: socket.LocalAddr().(*net.UDPAddr).Port,
			Opened:    began.Sub(s.began),
			Handshake: handshake,
		},
		alive: func() bool { return conn.Context().Err() == nil },
		close: func() {
			// Returns once CONNECTION_CLOSE is sent, so that the server need not wait for its idle timeout.
			_ = client.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
			release()
			releaseMoved()
		},
	}, nil
}

// beforeHandshake sends GET requests at once, in 0-RTT where the handshake is not complete (RFC 9001, section 4.6).
func beforeHandshake(client *http3.ClientConn) http.RoundTripper {
	return roundTrip(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodGet {
			request = request.WithContext(request.Context()) // a copy: the caller's keeps its method
			request.Method = http3.MethodGet0RTT
		}
		return client.RoundTrip(request)
	})
}

// setReceiveBuffer sets exactly this size, beyond net.core.rmem_max where this user may.
func setReceiveBuffer(socket *net.UDPConn, size int) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return fmt.Errorf("setting the UDP receive buffer: %w", err)
	}
	if ctlErr := raw.Control(func(fd uintptr) {
		if err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, size); errors.Is(err, unix.EPERM) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, size)
		}
	}); ctlErr != nil {
		err = ctlErr
	}
	if err != nil {
		return fmt.Errorf("setting the UDP receive buffer to %d bytes: %w", size, err)
	}
	return nil
}

// resolve gives the address of an alternative: the origin's where the host is the origin's.
func (s *Session) resolve(ctx context.Context, alternative altsvc.Alternative) (*net.UDPAddr, error) {
	host := alternative.Host
	if host == s.config.Host {
		host = s.config.Address
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("looking up %s: %w", host, err)
	}
	for _, address := range addresses {
		address = address.Unmap()
		if own := s.from(); !own.IsValid() || own.Is4() == address.Is4() {
			return &net.UDPAddr{IP: address.AsSlice(), Port: alternative.Port}, nil
		}
	}
	return nil, fmt.Errorf("%s has no address of the family of %s", host, s.from())
}
