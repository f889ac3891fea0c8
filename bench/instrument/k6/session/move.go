package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/quic-go/quic-go"
)

// Move is a change of the client's network in mid-session: from Wi-Fi to a cellular network, say. Once so many bytes of
// bodies are there, the client sends from another address. A QUIC connection migrates (RFC 9000, section 9): the new path is
// probed while the old one still carries, then used. A TCP connection ends with its address: a new one asks for the rest
// (RFC 9110, section 14.2).
type Move struct {
	AfterBytes    int64
	ClientAddress netip.Addr
}

// readMoving reads a body to its end, and moves on the way, if that is asked for. It returns what was read of the
// response given, and errMoved where the rest is to be asked for over a new connection.
func (s *Session) readMoving(ctx context.Context, body io.Reader, over *connection) (int64, error) {
	move := s.config.Move
	if move == nil || s.moved.Load() {
		return countBytes(body)
	}
	read, err := countBytes(io.LimitReader(body, move.AfterBytes))
	if err != nil || read < move.AfterBytes || !s.moved.CompareAndSwap(false, true) {
		return read, err
	}
	s.mu.Lock()
	s.clientAddress = move.ClientAddress
	s.mu.Unlock()
	if over.migrate == nil {
		return read, errMoved
	}
	migrated := make(chan error, 1)
	// The old path goes on carrying meanwhile.
	go func() { migrated <- over.migrate(ctx, move.ClientAddress) }()
	rest, err := countBytes(body)
	select {
	case migrateErr := <-migrated:
		return read + rest, errors.Join(err, migrateErr)
	default:
		<-migrated // its socket is the connection's by then
		return read + rest, errors.Join(err, errors.New("the file ended before the client had moved: it is too small"))
	}
}

var errMoved = errors.New("the client has moved")

// askForRest ends the connection and gets what is missing of a resource over a new one. It returns the bytes it got, and over
// what.
func (s *Session) askForRest(
	ctx context.Context, path string, header http.Header, got int64, over *connection,
) (int64, *connection, error) {
	over.close()
	connection, err := s.route(ctx)
	if err != nil {
		return 0, over, err
	}
	header = header.Clone()
	header.Set("Range", fmt.Sprintf("bytes=%d-", got))
	response, err := s.send(ctx, connection, path, header)
	if err != nil {
		return 0, connection, fmt.Errorf("the rest over %s: %w", connection.Protocol, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return 0, connection, fmt.Errorf("asked for the rest, the server answered %d", response.StatusCode)
	}
	rest, err := countBytes(response.Body)
	return rest, connection, err
}

// migrate moves a QUIC connection to another address.
func (s *Session) migrate(ctx context.Context, conn *quic.Conn, to netip.Addr) error {
	began := time.Now()
	transport, err := s.newTransport(to)
	if err != nil {
		return err
	}
	path, err := conn.AddPath(transport)
	if err == nil {
		err = path.Probe(ctx)
	}
	if err == nil {
		err = path.Switch()
	}
	if err != nil {
		return fmt.Errorf("migrating to %s, after %s: %w", to, time.Since(began), err)
	}
	return nil
}
