package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// repliesMax bounds what is kept of the replies to one input.
const repliesMax = 1 << 20

// closed stands for the end of a connection in the place of an answer.
var closed = reply{instead: "closed"}

// statusLine begins a reply. No body of the system's has such a line.
var statusLine = regexp.MustCompile(`HTTP/1\.[01] (\d{3}) [^\r\n]*\r\n`)

// sendH1 writes bytes, and reads whatever comes until the server ends the connection.
func (a *attack) sendH1(in input) (replies []reply, wrong string) {
	conn, err := a.dial("http/1.1")
	if err != nil {
		return nil, "no connection: " + err.Error()
	}
	defer conn.NetConn().Close()
	_ = conn.SetWriteDeadline(time.Now().Add(hangs))
	_, _ = conn.Write(in.bytes)
	if in.cut {
		_ = conn.CloseWrite()
	}
	came, wrong := readUntilEnd(conn, in.cut)
	starts := statusLine.FindAllSubmatchIndex(came, -1)
	for i, at := range starts {
		end := len(came)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		status, _ := strconv.Atoi(string(came[at[2]:at[3]]))
		replies = append(replies, reply{status: status, text: string(came[at[0]:end])})
	}
	if len(replies) == 0 && wrong == "" {
		replies = []reply{closed}
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

var pingData = [8]byte{'h', 'o', 's', 't', 'i', 'l', 'e'}

// sendH2 writes frames as they are, and reads with a parser of HTTP/2 that is not the edge's, until the server has answered a PING and
// all requests, or has ended the connection.
func (a *attack) sendH2(in input) (replies []reply, wrong string) {
	conn, err := a.dial("h2")
	if err != nil {
		return nil, "no connection: " + err.Error()
	}
	defer conn.NetConn().Close()
	_ = conn.SetWriteDeadline(time.Now().Add(2 * hangs))
	framer := http2.NewFramer(conn, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_, _ = conn.Write([]byte(http2.ClientPreface))
	_ = framer.WriteSettings()
	_, _ = conn.Write(in.bytes)
	_ = framer.WritePing(false, pingData)
	if in.cut {
		_ = conn.CloseWrite()
	}
	open := map[uint32]*reply{}
	pinged := false
	over := func(id uint32, instead string) {
		r := open[id]
		if r == nil {
			r = &reply{}
		}
		if r.status == 0 || instead != "" {
			r.instead = instead
		}
		replies = append(replies, *r)
		delete(open, id)
	}
	for !pinged || len(replies) < in.answers || in.cut {
		_ = conn.SetReadDeadline(time.Now().Add(hangs))
		frame, err := framer.ReadFrame()
		var badFrame http2.StreamError
		switch {
		case errors.As(err, &badFrame):
			return replies, "a broken answer: " + err.Error()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return replies, fmt.Sprintf("no PING came back (%v), or %d of %d requests were answered, within %v", pinged, len(replies), in.answers, hangs)
		case err != nil:
			return append(replies, closed), ""
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = framer.WriteSettingsAck()
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
			if f.StreamEnded() {
				over(f.StreamID, "")
			}
		case *http2.RSTStreamFrame:
			over(f.StreamID, "reset "+f.ErrCode.String())
		case *http2.GoAwayFrame:
			if f.ErrCode == http2.ErrCodeInternal {
				return replies, "the connection ended with INTERNAL_ERROR"
			}
			if f.ErrCode != http2.ErrCodeNo {
				return append(replies, closed), ""
			}
		}
	}
	return replies, ""
}

// sendH3 writes to raw QUIC streams, and reads what comes on those of requests.
func (a *attack) sendH3(in input) (replies []reply, wrong string) {
	config := a.tls.Clone()
	config.NextProtos = []string{http3.NextProtoH3}
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	conn, err := quic.DialAddr(ctx, a.url.Host, config, nil)
	if err != nil {
		return nil, "no connection: " + err.Error()
	}
	defer func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") }()
	streams := in.streams
	if !in.bare {
		streams = append([]stream{{bytes: []byte{0, 4, 0}, oneWay: true, open: true}}, streams...) // a control stream, and empty SETTINGS
	}
	var asked []*quic.Stream
	for _, s := range streams {
		var to interface {
			io.WriteCloser
			SetWriteDeadline(time.Time) error
			CancelWrite(quic.StreamErrorCode)
		}
		if s.oneWay {
			one, err := conn.OpenUniStreamSync(ctx)
			if err != nil {
				break
			}
			to = one
		} else {
			both, err := conn.OpenStreamSync(ctx)
			if err != nil {
				break
			}
			to = both
			if !s.reset {
				asked = append(asked, both)
			}
		}
		_ = to.SetWriteDeadline(time.Now().Add(hangs))
		_, _ = to.Write(s.bytes)
		switch {
		case s.reset:
			to.CancelWrite(quic.StreamErrorCode(http3.ErrCodeRequestCanceled))
		case !s.open:
			_ = to.Close()
		}
	}
	for _, from := range asked {
		_ = from.SetReadDeadline(time.Now().Add(hangs))
		came, err := io.ReadAll(io.LimitReader(from, repliesMax))
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() && conn.Context().Err() == nil {
			return replies, fmt.Sprintf("a request stream was not answered within %v", hangs)
		}
		replies = append(replies, parseH3(came, err))
	}
	return replies, brokeInside(conn)
}

// brokeInside says whether the server ended the connection because of an error of its own.
func brokeInside(conn *quic.Conn) string {
	var application *quic.ApplicationError
	var transport *quic.TransportError
	err := context.Cause(conn.Context())
	switch {
	case errors.As(err, &application) && application.Remote && application.ErrorCode == quic.ApplicationErrorCode(http3.ErrCodeInternalError),
		errors.As(err, &transport) && transport.Remote && transport.ErrorCode == quic.InternalError:
		return "the connection ended because of an error inside the server: " + err.Error()
	}
	return ""
}

// parseH3 reads what came on a request stream until its end, which err is if it is not the usual one.
func parseH3(came []byte, err error) reply {
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
	var reset *quic.StreamError
	switch {
	case errors.As(err, &reset):
		r.instead = fmt.Sprint("reset ", http3.ErrCode(reset.ErrorCode))
	case err != nil, r.status == 0:
		r.instead = "closed"
	}
	return r
}
