package main

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// movingClient is an HTTP/3 client that can go on from another address.
type movingClient struct {
	*testClient
	conn *quic.Conn
}

func (e *testEdge) movingClient(from *quic.Transport) *movingClient {
	e.t.Helper()
	to, err := net.ResolveUDPAddr("udp", e.addresses[0])
	if err != nil {
		e.t.Fatal(err)
	}
	c := &movingClient{testClient: &testClient{protocol: "HTTP/3"}}
	tr := &http3.Transport{TLSClientConfig: e.tlsConfig(), DisableCompression: true}
	tr.Dial = func(ctx context.Context, _ string, tc *tls.Config, qc *quic.Config) (conn *quic.Conn, err error) {
		c.conn, err = from.Dial(ctx, to, tc, qc)
		return c.conn, err
	}
	c.Client = &http.Client{Transport: tr, Timeout: edgetest.Patience}
	c.disconnect = func() { tr.Close() }
	e.t.Cleanup(c.disconnect)
	return c
}

func transportAt(t *testing.T, conn net.PacketConn) *quic.Transport {
	tr := &quic.Transport{Conn: conn}
	t.Cleanup(func() { tr.Close(); conn.Close() })
	return tr
}

func udpAt(t *testing.T, ip string) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(ip)})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// reboundConn is a client's socket behind a NAT: from now on its packets come from another one.
type reboundConn struct {
	*net.UDPConn
	now atomic.Pointer[net.UDPConn]
}

func (c *reboundConn) WriteTo(p []byte, to net.Addr) (int, error) { return c.now.Load().WriteTo(p, to) }

// rebind has packets leave from conn, and hears there too.
func (c *reboundConn) rebind(conn *net.UDPConn) {
	c.now.Store(conn)
	go func() {
		buf := make([]byte, 2048)
		for {
			n, _, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			// Over the first socket, as if it came there.
			_, _ = conn.WriteTo(buf[:n], c.LocalAddr())
		}
	}()
}

// plainConn hides what quic-go would use of a UDP socket beyond this.
type plainConn struct{ net.PacketConn }

// What a connection counted at an address is told of this address, however its client came to the next one.
func TestSamplesOfAClientThatMoves(t *testing.T) {
	const before, after = 600_000, 100_000
	for _, tc := range []struct {
		name  string
		to    string
		move  func(t *testing.T, c *movingClient, nat *reboundConn, to *net.UDPConn)
		stays int
	}{
		{"it migrates", "127.0.0.2", migrate, 2},
		{"its NAT has another address", "127.0.0.3", rebind, 2},
		{"its NAT has another port", "127.0.0.1", rebind, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				size := before
				if r.URL.Path == "/after" {
					size = after
				}
				w.Write(edgetest.Pattern(size))
			}))
			nat := &reboundConn{UDPConn: udpAt(t, "127.0.0.1")}
			nat.now.Store(nat.UDPConn)
			c := e.movingClient(transportAt(t, plainConn{nat}))
			first, _ := e.get(c.testClient, "/before")
			tc.move(t, c, nat, udpAt(t, tc.to))
			// The path is validated by a round trip, beside this request.
			asked := int64(0)
			edgetest.Eventually(t, "the edge sees the move", func() bool {
				asked++
				res, err := c.Get(e.url("/after"))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
				return tc.stays == 1 || idIn(res) != idIn(first)
			})
			c.disconnect()
			for stay := range tc.stays {
				s := edgetest.Receive(t, "closing sample", e.samples)
				address, least, most := "127.0.0.1", int64(before), 2*(before+asked*after)
				if stay > 0 {
					address, least, most = tc.to, after, before
				}
				if !s.Closing || s.ClientAddress != address || s.BytesSent < least || s.BytesSent > most || s.PacketsSent < least/1452 {
					t.Errorf("stay %d: %+v", stay, s)
				}
				if moved := s.ConnectionID != idIn(first); moved != (stay > 0) {
					t.Errorf("stay %d: connection %s", stay, s.ConnectionID)
				}
			}
			e.noMore()
		})
	}
}

func migrate(t *testing.T, c *movingClient, _ *reboundConn, to *net.UDPConn) {
	path, err := c.conn.AddPath(transportAt(t, to))
	if err != nil {
		t.Fatal(err)
	}
	if err := path.Probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := path.Switch(); err != nil {
		t.Fatal(err)
	}
}

func rebind(t *testing.T, _ *movingClient, nat *reboundConn, to *net.UDPConn) {
	t.Cleanup(func() { to.Close() })
	nat.rebind(to)
}

// idIn returns the connection's ID in a response's Server-Timing.
func idIn(res *http.Response) string {
	_, id, _ := strings.Cut(res.Header.Get("Server-Timing"), "&cid=")
	id, _, _ = strings.Cut(id, "&")
	return id
}
