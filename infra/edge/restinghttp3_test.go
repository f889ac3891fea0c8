package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	qpackcode "github.com/quic-go/qpack"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// An HTTP/3 client is told first. A request that is on its way then is refused so that the client knows that nobody has acted on
// it, and can send it again (RFC 9114, sections 4.1.1 and 5.2).
func TestRestingHTTP3ClientIsTold(t *testing.T) {
	upstream := edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") })
	e := startEdgeWith(t, upstream, "-config", "rest-timeout=500ms")
	ctx, cancel := context.WithTimeout(t.Context(), edgetest.Patience)
	defer cancel()
	conn, err := quic.DialAddr(ctx, e.addresses[0], http3Config(e), nil)
	if err != nil {
		t.Fatal(err)
	}
	send := func(stream io.Writer, frame []byte) {
		t.Helper()
		if _, err := stream.Write(frame); err != nil {
			t.Fatal(err)
		}
	}
	open := func() *quic.Stream {
		t.Helper()
		stream, err := conn.OpenStreamSync(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return stream
	}
	control, err := conn.OpenUniStreamSync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	send(control, []byte{0, 4, 0}) // a control stream with empty SETTINGS
	request := requestHTTP3("POST", e.addresses[0])
	first := open()
	send(first, request)
	_ = first.Close()
	if response, err := io.ReadAll(first); err != nil || !bytes.HasSuffix(response, []byte("page")) {
		t.Fatalf("%q, %v", response, err)
	}
	late := open() // its request leaves when the server says GOAWAY
	if next := readGoAway(t, ctx, conn); next != uint64(late.StreamID()) {
		t.Errorf("GOAWAY says %d, want %d", next, late.StreamID())
	}
	send(late, request)
	_, err = io.ReadAll(late)
	if reset := (*quic.StreamError)(nil); !errors.As(err, &reset) || http3.ErrCode(reset.ErrorCode) != http3.ErrCodeRequestRejected {
		t.Errorf("%v, want %v", err, http3.ErrCodeRequestRejected)
	}
	edgetest.Receive(t, "end of the connection", conn.Context().Done())
	var end *quic.ApplicationError
	if err := context.Cause(conn.Context()); !errors.As(err, &end) || http3.ErrCode(end.ErrorCode) != http3.ErrCodeNoError {
		t.Errorf("the connection ended with %v", err)
	}
}

// requestHTTP3 is a HEADERS frame (RFC 9114, section 7.2.2).
func requestHTTP3(method, authority string) []byte {
	var block bytes.Buffer
	fields := qpackcode.NewEncoder(&block)
	for _, f := range [][2]string{{":method", method}, {":scheme", "https"}, {":authority", authority}, {":path", "/"}} {
		_ = fields.WriteField(qpackcode.HeaderField{Name: f[0], Value: f[1]})
	}
	return append(quicvarint.Append([]byte{1}, uint64(block.Len())), block.Bytes()...)
}

// readGoAway reads the server's control stream up to a GOAWAY, and returns which stream it says will not be answered.
func readGoAway(t *testing.T, ctx context.Context, conn *quic.Conn) uint64 {
	t.Helper()
	for {
		stream, err := conn.AcceptUniStream(ctx)
		if err != nil {
			t.Fatal(err)
		}
		r := quicvarint.NewReader(stream)
		if kind, err := quicvarint.Read(r); err != nil || kind != 0 {
			continue
		}
		for {
			kind, err := quicvarint.Read(r)
			if err != nil {
				t.Fatalf("no GOAWAY: %v", err)
			}
			length, err := quicvarint.Read(r)
			if err != nil {
				t.Fatal(err)
			}
			if kind == 7 {
				next, err := quicvarint.Read(r)
				if err != nil {
					t.Fatal(err)
				}
				return next
			}
			if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
