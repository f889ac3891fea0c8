package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/operator"
	"adaptive-h3/infra/edge/internal/quicserver"
	"adaptive-h3/infra/edge/internal/upstream"
)

// startInside runs an edge whose insides a test can reach.
func startInside(t *testing.T, upstream string, args ...string) (*testEdge, *edge) {
	t.Helper()
	e := &testEdge{t: t, state: filepath.Join(t.TempDir(), "state"), stderr: &edgetest.Buffer{}}
	args = append([]string{"-upstream", upstream, "-state", e.state, "-listen", "127.0.0.1:0"}, args...)
	opts, err := parseOptions(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	inside, err := startEdge(opts, errorlog.New(e.stderr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inside.shutdown(time.Second) })
	for _, s := range inside.servers {
		e.addresses = append(e.addresses, s.socket.Address().String())
	}
	return e, inside
}

func offering(w http.ResponseWriter, r *http.Request) {
	value := `h3=":443"; ma=60`
	if r.URL.Path == "/clear" {
		value = "clear"
	}
	w.Header().Set("Alt-Svc", value)
	w.WriteHeader(http.StatusEarlyHints)
}

// A UDP socket that is gone is had again, and the clients' next connections come.
func TestSocketIsHadAgain(t *testing.T) {
	e, inside := startInside(t, edgetest.StartUpstream(t, offering))
	e.get(e.client("HTTP/3"), "/")
	for range 3 {
		before := inside.servers[0].quic.Socket()
		before.Close()
		edgetest.Eventually(t, "another socket", func() bool {
			return inside.servers[0].quic.Socket() != before && inside.servers[0].serves.Load()
		})
		e.get(e.client("HTTP/3"), "/")
		if res, _ := e.get(e.client("HTTP/2"), "/"); !strings.HasPrefix(res.Header.Get("Alt-Svc"), "h3") {
			t.Errorf("not offered again: %v", res.Header)
		}
	}
	// The new socket serves before the log says so.
	edgetest.Eventually(t, "the log says that it serves again", func() bool { return strings.Contains(e.stderr.String(), "serves again") })
	if said := e.stderr.String(); !strings.Contains(said, "does not serve any more") {
		t.Errorf("said: %s", said)
	}
}

// A client learns from the next socket that its connection is gone. It need not wait for its idle timeout.
func TestConnectionsOfALostSocketAreReset(t *testing.T) {
	e, inside := startInside(t, edgetest.StartUpstream(t, offering))
	conn, err := quic.DialAddr(t.Context(), e.addresses[0], http3Config(e), &quic.Config{MaxIdleTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	before := inside.servers[0].quic.Socket()
	before.Close()
	edgetest.Eventually(t, "another socket", func() bool {
		return inside.servers[0].quic.Socket() != before && inside.servers[0].serves.Load()
	})
	if err := resetOf(t, conn); err != nil {
		t.Error(err)
	}
}

// deafConn is a client's socket that can stop to hear. It hears again from a packet of one byte on, which nothing overtakes.
type deafConn struct {
	net.PacketConn
	deaf atomic.Bool
}

func (c *deafConn) ReadFrom(p []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(p)
		if n == 1 {
			c.deaf.Store(false)
		} else if err != nil || !c.deaf.Load() {
			return n, from, err
		}
	}
}

// A client learns that its connection is gone also from an edge that has another certificate than the one before.
func TestConnectionsAreResetAfterARenewal(t *testing.T) {
	before, old := startInside(t, edgetest.StartUpstream(t, offering))
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client := &deafConn{PacketConn: socket}
	transport := &quic.Transport{Conn: client}
	t.Cleanup(func() { transport.Close(); socket.Close() })
	to := net.UDPAddrFromAddrPort(netip.MustParseAddrPort(before.addresses[0]))
	conn, err := transport.Dial(t.Context(), to, http3Config(before), &quic.Config{MaxIdleTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	client.deaf.Store(true) // as if the edge had died without a word
	old.shutdown(time.Second)
	if _, err := socket.WriteTo([]byte{0}, socket.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(before.state, "dev-cert.pem")); err != nil {
		t.Fatal(err)
	}
	startInside(t, edgetest.StartUpstream(t, offering), "-state", before.state, "-listen", before.addresses[0])
	if err := resetOf(t, conn); err != nil {
		t.Error(err)
	}
}

// resetOf writes until the connection ends, and returns nil if a stateless reset ended it.
func resetOf(t *testing.T, conn *quic.Conn) error {
	t.Helper()
	stream, err := conn.OpenUniStream()
	if err != nil {
		return err
	}
	if _, err := stream.Write(make([]byte, 100)); err != nil {
		return err
	}
	select {
	case <-conn.Context().Done():
	case <-time.After(edgetest.Patience):
		return errors.New("the client does not learn that its connection is gone")
	}
	var reset *quic.StatelessResetError
	if err := context.Cause(conn.Context()); !errors.As(err, &reset) {
		return fmt.Errorf("ended by %w", err)
	}
	return nil
}

func http3Config(e *testEdge) *tls.Config {
	config := e.tlsConfig()
	config.NextProtos = []string{http3.NextProtoH3}
	return config
}

// While HTTP/3 is not served nothing offers it; what takes an offer back passes.
func TestNothingOffersWhatIsNotServed(t *testing.T) {
	e, inside := startInside(t, edgetest.StartUpstream(t, offering))
	c := e.client("HTTP/2")
	if res, _ := e.get(c, "/"); res.Header.Get("Alt-Svc") == "" {
		t.Error("not offered")
	}
	inside.servers[0].serves.Store(false)
	if res, _ := e.get(c, "/"); len(res.Header.Values("Alt-Svc")) > 0 {
		t.Errorf("offered: %v", res.Header)
	}
	if res, _ := e.get(c, "/clear"); res.Header.Get("Alt-Svc") != "clear" {
		t.Errorf("an offer is not taken back: %v", res.Header)
	}
	edgetest.Eventually(t, "the watch finds that it answers", func() bool { return inside.servers[0].serves.Load() })
	if res, _ := e.get(c, "/"); res.Header.Get("Alt-Svc") == "" {
		t.Error("not offered again")
	}
}

func TestProbe(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, offering))
	if err := quicserver.Answers(netip.MustParseAddrPort(e.addresses[0]), edgetest.Patience); err != nil {
		t.Error(err)
	}
	deaf, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	var timeout net.Error
	if err := quicserver.Answers(deaf.LocalAddr().(*net.UDPAddr).AddrPort(), 50*ms); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("a deaf socket: %v", err)
	}
	if err := quicserver.Answers(netip.MustParseAddrPort("127.0.0.1:1"), edgetest.Patience); err == nil {
		t.Error("nobody there answers")
	}
}

// healthOf asks the health listener.
func healthOf(t *testing.T, socket string) (int, operator.Answer) {
	t.Helper()
	tr := upstream.NewTransport(upstream.Target{Network: "unix", Address: socket}, 0)
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr, Timeout: edgetest.Patience}).Get("http://health/health")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var h operator.Answer
	if err := json.NewDecoder(res.Body).Decode(&h); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, h
}

func TestHealth(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "health")
	worker := startTestWorker(t)
	_, inside := startInside(t, worker.url, "-health", "unix:"+socket, "-samples", worker.url, "-origin", "http://"+edgetest.RefusingAddress(t))
	status, h := healthOf(t, socket)
	if status != 200 || !h.OK || len(h.Problems) != 0 || len(h.TCP) != 1 || !h.TCP[0].OK || h.TCP[0].HandshakeMs <= 0 || len(h.HTTP3) != 1 || !h.HTTP3[0].OK || h.HTTP3[0].HandshakeMs <= 0 ||
		!h.Worker.Watched || !h.Worker.OK || h.Requests.Total != 128 || h.Requests.PerClient != 100 {
		t.Errorf("%d %+v", status, h)
	}
	// Nobody can be offered what this machine's own handshake does not reach.
	inside.servers[0].quic.Shutdown(t.Context())
	inside.servers[0].quic.Close()
	worker.end()
	edgetest.Eventually(t, "both are found", func() bool {
		status, h = healthOf(t, socket)
		return status == 503 && !h.OK && len(h.Problems) == 2 && !h.HTTP3[0].OK && !h.Worker.OK
	})
}

// A server that is deaf over TCP alone is found, too.
func TestHealthAsksTCP(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "health")
	_, inside := startInside(t, edgetest.StartUpstream(t, image), "-health", "unix:"+socket)
	_ = inside.servers[0].socket.TCP.Close()
	status, h := healthOf(t, socket)
	if status != http.StatusServiceUnavailable || len(h.Problems) != 1 || !strings.HasPrefix(h.Problems[0], "TCP on ") || h.TCP[0].OK || !h.HTTP3[0].OK {
		t.Errorf("%d %+v", status, h)
	}
}

func TestHealthOfAnotherPath(t *testing.T) {
	for _, args := range [][]string{{"-health", "unix:/nowhere/health"}, {"-health", "http://127.0.0.1"}} {
		if code := run(t.Context(), append([]string{"-upstream", "http://127.0.0.1:1", "-listen", "127.0.0.1:0", "-state", t.TempDir()}, args...), io.Discard, io.Discard); code == exitOK {
			t.Errorf("%v is taken", args)
		}
	}
}
