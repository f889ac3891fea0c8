package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"adaptive-h3/infra/edge/internal/hostile"
)

// repliesMax bounds what is kept of the replies to one input.
const repliesMax = 1 << 20

// dial makes a TLS connection that speaks a protocol.
func (a *attack) dial(protocol string) (*tls.Conn, error) {
	config := a.tls.Clone()
	config.NextProtos = []string{protocol}
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", a.url.Host)
	if err != nil {
		return nil, err
	}
	return conn.(*tls.Conn), nil
}

type senderH1 struct {
	attack *attack
	conn   *tls.Conn
	in     *bufio.Reader
}

func (s *senderH1) close() {
	if s.conn != nil {
		_ = s.conn.NetConn().Close()
		s.conn = nil
	}
}

func (s *senderH1) send(in hostile.Input) ([]reply, string) {
	if in.Alone {
		s.close()
	}
	if s.conn == nil {
		conn, err := s.attack.dial("http/1.1")
		if err != nil {
			return nil, "no connection: " + err.Error()
		}
		s.conn, s.in = conn, bufio.NewReader(conn)
	}
	if !in.Raw.Whole {
		defer s.close()
		return s.all(in)
	}
	_ = s.conn.SetDeadline(time.Now().Add(hangs))
	// An answer may come before all is written, so what counts is what can be read.
	_, _ = s.conn.Write(in.Raw.Bytes)
	method, _, _ := strings.Cut(string(in.Raw.Bytes), " ")
	response, err := http.ReadResponse(s.in, &http.Request{Method: method})
	if err != nil {
		s.close()
		return ended(err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, repliesMax))
	if err != nil || response.Close {
		s.close()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fmt.Sprintf("an answer did not end within %v", hangs)
	}
	return []reply{{status: response.StatusCode, text: string(body)}}, ""
}

// ended says what a connection's end without an answer is.
func ended(err error) ([]reply, string) {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return nil, fmt.Sprintf("neither an answer nor an end within %v", hangs)
	}
	return []reply{{instead: "closed"}}, ""
}

// statusLine begins a reply. No body of the system's has such a line.
var statusLine = regexp.MustCompile(`HTTP/1\.[01] (\d{3}) [^\r\n]*\r\n`)

// all reads whatever comes until the server ends the connection. Once nothing more comes, the client ends its side.
func (s *senderH1) all(in hostile.Input) ([]reply, string) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(hangs))
	_, _ = s.conn.Write(in.Raw.Bytes)
	if in.Raw.Cut {
		_ = s.conn.CloseWrite()
	}
	came, wrong := readUntilEnd(s.conn, in.Raw.Cut)
	starts := statusLine.FindAllSubmatchIndex(came, -1)
	var replies []reply
	for i, at := range starts {
		end := len(came)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		status, _ := strconv.Atoi(string(came[at[2]:at[3]]))
		replies = append(replies, reply{status: status, text: string(came[at[0]:end])})
	}
	if len(replies) == 0 && wrong == "" {
		replies = []reply{{instead: "closed"}}
	}
	return replies, wrong
}

// readUntilEnd reads to the connection's end. If nothing comes for a while, the client ends its side, unless it has done so.
func readUntilEnd(conn *tls.Conn, hasEnded bool) (came []byte, wrong string) {
	var kept bytes.Buffer
	part := make([]byte, 16<<10)
	for {
		patience := quiet
		if hasEnded {
			patience = hangs
		}
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		n, err := conn.Read(part)
		if kept.Len() < repliesMax {
			kept.Write(part[:n])
		}
		switch {
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return kept.Bytes(), ""
		case hasEnded:
			return kept.Bytes(), fmt.Sprintf("the client ended its side, and the server did not within %v", hangs)
		default:
			hasEnded = true
			_ = conn.SetWriteDeadline(time.Now().Add(hangs))
			_ = conn.CloseWrite()
		}
	}
}
