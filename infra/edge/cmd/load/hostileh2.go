package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"adaptive-h3/infra/edge/internal/hostile"
)

// senderH2 writes frames as they are, and reads with a parser of HTTP/2 that is not the edge's.
type senderH2 struct {
	attack *attack
	conn   *tls.Conn
	framer *http2.Framer
	next   uint32 // the id of the next stream
}

func (s *senderH2) close() {
	if s.conn != nil {
		_ = s.conn.NetConn().Close()
		s.conn = nil
	}
}

func (s *senderH2) send(in hostile.Input) ([]reply, string) {
	if in.Alone {
		s.close()
		defer s.close()
	}
	if s.conn == nil {
		conn, err := s.attack.dial("h2")
		if err != nil {
			return nil, "no connection: " + err.Error()
		}
		s.conn, s.next = conn, 1
		s.framer = http2.NewFramer(conn, conn)
		s.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		_ = conn.SetWriteDeadline(time.Now().Add(hangs))
		_, _ = conn.Write([]byte(http2.ClientPreface))
		_ = s.framer.WriteSettings()
	}
	var out []byte
	if in.Raw != nil {
		out = in.Raw.Bytes
	}
	waiting := map[uint32]*reply{}
	isOpen := map[uint32]bool{}
	for _, f := range in.Frames {
		id := f.ID(s.next)
		out = f.Append(out, s.next)
		if f.Stream > 0 {
			isOpen[id] = true
		}
		if f.EndsRequest() && !in.Starved && !in.Ragged {
			waiting[id] = nil
		}
		if f.Type == rstStream {
			delete(waiting, id)
		}
	}
	_ = s.conn.SetWriteDeadline(time.Now().Add(hangs))
	_, _ = s.conn.Write(out)
	_ = s.framer.WritePing(false, pingData)
	replies, wrong := s.read(in, waiting)
	first := s.next
	for id := range isOpen {
		s.next = max(s.next, id+2)
		if s.conn != nil && id >= first {
			_ = s.framer.WriteRSTStream(id, http2.ErrCodeCancel)
		}
	}
	return replies, wrong
}

const rstStream = 3

var pingData = [8]byte{'h', 'o', 's', 't', 'i', 'l', 'e'}

// read reads until the server has answered the PING, and all requests that are waiting, or has ended the connection.
func (s *senderH2) read(in hostile.Input, waiting map[uint32]*reply) (replies []reply, wrong string) {
	patience := hangs
	if in.Ragged {
		patience = quiet
	}
	open := map[uint32]*reply{}
	first := s.next
	over := func(id uint32, instead string) {
		if id < first {
			return // of an earlier input, whose stream this client has reset
		}
		r := open[id]
		if r == nil {
			r = &reply{}
		}
		if r.status == 0 || instead != "" {
			r.instead = instead
		}
		replies = append(replies, *r)
		delete(open, id)
		delete(waiting, id)
	}
	pinged := false
	for !pinged || len(waiting) > 0 {
		_ = s.conn.SetReadDeadline(time.Now().Add(patience))
		frame, err := s.framer.ReadFrame()
		var timeout net.Error
		var badFrame http2.StreamError
		switch {
		case errors.As(err, &badFrame):
			wrong = "a broken answer: " + err.Error()
			continue
		case errors.As(err, &timeout) && timeout.Timeout():
			conn := s.conn
			s.conn = nil
			defer func() { _ = conn.NetConn().Close() }()
			if !in.Ragged {
				return replies, fmt.Sprintf("no PING came back (%v), or %d requests were not answered, within %v", pinged, len(waiting), hangs)
			}
			_ = conn.CloseWrite()
			_, wrong = readUntilEnd(conn, true)
			return append(replies, reply{instead: "closed"}), wrong
		case err != nil:
			s.close()
			return append(replies, reply{instead: "closed"}), wrong
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = s.framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			pinged = pinged || f.IsAck() && f.Data == pingData
		case *http2.MetaHeadersFrame:
			r := &reply{}
			r.status, _ = strconv.Atoi(f.PseudoValue("status"))
			open[f.StreamID] = r
			if f.StreamEnded() {
				over(f.StreamID, "")
			}
		case *http2.DataFrame:
			if r := open[f.StreamID]; r != nil && len(r.text) < repliesMax {
				r.text += string(f.Data())
			}
			if n := len(f.Data()); n > 0 {
				_ = s.framer.WriteWindowUpdate(0, uint32(n))
				_ = s.framer.WriteWindowUpdate(f.StreamID, uint32(n))
			}
			if f.StreamEnded() {
				over(f.StreamID, "")
			}
		case *http2.RSTStreamFrame:
			over(f.StreamID, "reset "+f.ErrCode.String())
		case *http2.GoAwayFrame:
			if f.ErrCode == http2.ErrCodeInternal {
				wrong = "the connection ended with INTERNAL_ERROR"
			}
			if f.ErrCode != http2.ErrCodeNo {
				// The server gives its client a second to read this (net/http's goAwayTimeout). Other inputs need not wait for it.
				conn := s.conn
				s.conn = nil
				s.attack.ending.Go(func() {
					if _, wrong := readUntilEnd(conn, true); wrong != "" {
						s.attack.find(in, in.Index, "after GOAWAY: "+wrong)
					}
					_ = conn.NetConn().Close()
				})
				return append(replies, reply{instead: "closed"}), wrong
			}
		}
	}
	return replies, wrong
}
