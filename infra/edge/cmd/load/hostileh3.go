package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"

	"adaptive-h3/infra/edge/internal/hostile"
)

// senderH3 writes to raw QUIC streams.
type senderH3 struct {
	attack *attack
	conn   *quic.Conn
}

func (s *senderH3) close() {
	if s.conn != nil {
		_ = s.conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
		s.conn = nil
	}
}

// connect makes a connection. A bare one has no control stream.
func (s *senderH3) connect(bare bool) error {
	config := s.attack.tls.Clone()
	config.NextProtos = []string{http3.NextProtoH3}
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	conn, err := quic.DialAddr(ctx, s.attack.url.Host, config, &quic.Config{EnableDatagrams: true})
	if err != nil {
		return err
	}
	s.conn = conn
	if bare {
		return nil
	}
	control, err := conn.OpenUniStream()
	if err == nil {
		_, err = control.Write([]byte{0, 4, 0}) // a control stream, and empty SETTINGS
	}
	return err
}

func (s *senderH3) send(in hostile.Input) ([]reply, string) {
	if in.Alone || s.conn != nil && s.conn.Context().Err() != nil {
		s.close()
	}
	if in.Alone {
		defer s.close()
	}
	if s.conn == nil {
		if err := s.connect(in.Bare); err != nil {
			return nil, "no connection: " + err.Error()
		}
	}
	if s.conn.ConnectionState().SupportsDatagrams.Remote {
		for _, datagram := range in.Datagrams {
			_ = s.conn.SendDatagram(datagram)
		}
	}
	ctx, cancel := context.WithTimeout(s.conn.Context(), hangs)
	defer cancel()
	var asked, left []*quic.Stream
	for i, stream := range in.Streams {
		if stream.Unidirectional {
			if to, err := s.conn.OpenUniStreamSync(ctx); err == nil {
				write(to, stream, true)
			} else if errors.Is(err, context.DeadlineExceeded) {
				return nil, "no unidirectional stream: " + err.Error()
			}
			continue
		}
		to, err := s.conn.OpenStreamSync(ctx)
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return nil, "no stream: " + err.Error()
			}
			// The server has ended the connection. The next input gets another one.
			s.close()
			return []reply{{instead: "closed"}}, ""
		}
		write(to, stream, (in.Index+uint64(i))%2 == 0)
		switch stream.End {
		case hostile.Fin:
			asked = append(asked, to)
		case hostile.Stop:
			to.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
		case hostile.Reset, hostile.Leave:
			left = append(left, to)
		}
	}
	var replies []reply
	for _, from := range asked {
		_ = from.SetReadDeadline(time.Now().Add(hangs))
		came, err := io.ReadAll(io.LimitReader(from, repliesMax))
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() && s.conn.Context().Err() == nil {
			return replies, fmt.Sprintf("a request stream was not answered within %v", hangs)
		}
		replies = append(replies, s.parse(came, err))
	}
	for _, stream := range left {
		stream.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
		stream.CancelRead(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
	}
	return replies, s.brokeInside()
}

// brokeInside says whether the server ended the connection because of an error of its own.
func (s *senderH3) brokeInside() string {
	var application *quic.ApplicationError
	var transport *quic.TransportError
	err := context.Cause(s.conn.Context())
	switch {
	case errors.As(err, &application) && application.Remote && application.ErrorCode == quic.ApplicationErrorCode(http3.ErrCodeInternalError),
		errors.As(err, &transport) && transport.Remote && transport.ErrorCode == quic.InternalError:
		return "the connection ended because of an error inside the server: " + err.Error()
	}
	return ""
}

type sendStream interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
	CancelWrite(quic.StreamErrorCode)
}

// write sends a stream. If a reset is to be late, it comes when the server may have what was written.
func write(to sendStream, stream hostile.Stream, late bool) {
	_ = to.SetWriteDeadline(time.Now().Add(hangs))
	for _, part := range stream.Parts {
		if _, err := to.Write(part); err != nil {
			break // the server does not want more
		}
	}
	switch stream.End {
	case hostile.Fin:
		_ = to.Close()
	case hostile.Reset, hostile.Stop:
		if late {
			time.Sleep(time.Millisecond)
		}
		to.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
	}
}

// parse reads what came on a request stream until its end, which err is if it is not the usual one.
func (s *senderH3) parse(came []byte, err error) reply {
	var r reply
	in := bytes.NewReader(came)
	for in.Len() > 0 {
		kind, kindErr := quicvarint.Read(in)
		length, lengthErr := quicvarint.Read(in)
		if kindErr != nil || lengthErr != nil || length > uint64(in.Len()) {
			if err == nil {
				r.wrong = "a frame of an answer is cut"
			}
			break
		}
		payload := make([]byte, length)
		_, _ = in.Read(payload)
		switch kind {
		case 0:
			r.text += string(payload)
		case 1:
			for next := qpack.NewDecoder().Decode(payload); ; {
				f, fieldErr := next()
				if fieldErr != nil {
					break
				}
				if f.Name == ":status" {
					r.status, _ = strconv.Atoi(f.Value)
				}
			}
		}
	}
	var stream *quic.StreamError
	switch {
	case errors.As(err, &stream):
		r.instead = fmt.Sprint("reset ", http3.ErrCode(stream.ErrorCode))
	case err != nil, r.status == 0:
		r.instead = "closed"
	}
	return r
}
