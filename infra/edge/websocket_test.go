package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// echoUpgrade switches to a protocol that gives back what it gets. To the edge it is a websocket: it does not look inside.
func echoUpgrade(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Connection") != "Upgrade" || r.Header.Get("Mf-Cf-Blob") == "" {
		http.Error(w, fmt.Sprint(r.Header), http.StatusBadRequest)
		return
	}
	upgradeAndEcho(w, r)
}

func upgradeAndEcho(w http.ResponseWriter, r *http.Request) {
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Accept: %s\r\nAlt-Svc: clear\r\n\r\n", r.Header.Get("Sec-WebSocket-Key"))
	io.Copy(conn, buf)
}

type websocket struct {
	net.Conn
	r   io.Reader
	res *http.Response
}

func (w *websocket) Read(p []byte) (int, error) { return w.r.Read(p) }

// openWebsocket shakes hands over TLS and HTTP/1.1, as browsers do for wss.
func (e *testEdge) openWebsocket(path string) *websocket {
	e.t.Helper()
	c := e.rawTLS()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a2V5\r\n\r\n", path)
	r := bufio.NewReader(c)
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	if res.StatusCode != http.StatusSwitchingProtocols {
		body, _ := io.ReadAll(res.Body)
		e.t.Fatalf("%s %s", res.Status, body)
	}
	return &websocket{c, r, res}
}

func TestWebsocketOverTLS(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, echoUpgrade), "-config", "upstream-timeout=100ms")
	c := e.openWebsocket("/socket")
	h := c.res.Header
	if h.Get("Sec-WebSocket-Accept") != "a2V5" || h.Get("Alt-Svc") != "clear" || h.Get("Server-Timing") == "" {
		t.Errorf("%v", h)
	}
	// Both ways at once, in more than any buffer holds.
	message := edgetest.Pattern(4 << 20)
	go c.Write(message)
	echo := make([]byte, len(message))
	if _, err := io.ReadFull(c, echo); err != nil || !bytes.Equal(echo, message) {
		t.Fatalf("the echo differs: %v", err)
	}
}

// The upstream's end ends the visitor's websocket, and the other way round.
func TestWebsocketEnds(t *testing.T) {
	ended := make(chan struct{})
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/short" {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
				conn.Close()
			}
			return
		}
		echoUpgrade(w, r)
		close(ended)
	}))
	c := e.openWebsocket("/short")
	if b, err := io.ReadAll(c); err != nil && len(b) > 0 {
		t.Errorf("%q %v", b, err)
	}
	e.openWebsocket("/long").Close()
	edgetest.Receive(t, "end at the upstream", ended)
}

// startDeafUpstream upgrades every request, sends nothing, reads nothing, and tells when the other end has ended the connection.
func startDeafUpstream(t *testing.T) (url string, ended chan error) {
	ended = make(chan error, 10)
	return edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		go func() {
			defer conn.Close()
			for { // only a write tells of the end to one who does not read
				time.Sleep(20 * ms)
				if left, err := hasLeft(conn.(*net.TCPConn)); err != nil || left {
					ended <- err
					return
				}
			}
		}()
	}), ended
}

func hasLeft(c *net.TCPConn) (bool, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false, err
	}
	var state uint8
	err = raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			state = info.State
		}
	})
	return state != unix.BPF_TCP_ESTABLISHED, err
}

// A client that has left ends the websocket also while the server takes nothing, and sends nothing. The server sees a reset.
func TestWebsocketOfADeafServerEndsWithItsClient(t *testing.T) {
	upstream, ended := startDeafUpstream(t)
	e := startEdgeWith(t, upstream, "-config", "rest-timeout=2s")
	c := e.openWebsocket("/")
	// More than any buffer on the way holds, so that the edge waits for the server.
	_ = c.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := c.Write(make([]byte, 64<<20)); err == nil {
		t.Fatal("the server takes all")
	}
	c.Close()
	if err := edgetest.Receive(t, "end at the server", ended); err != nil {
		t.Error(err)
	}
}

// A websocket on which nothing moves ends; one on which something moves now and then does not.
func TestWebsocketAtRestEnds(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, echoUpgrade), "-config", "rest-timeout=1s")
	quiet, used := e.openWebsocket("/"), e.openWebsocket("/")
	atEnd := make(chan error, 1)
	go func() {
		_, err := quiet.Read(make([]byte, 1))
		atEnd <- err
	}()
	buf := make([]byte, 1)
	for range 15 {
		if _, err := used.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(used, buf); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * ms) // less than the timeout, over more than it
	}
	if err := edgetest.Receive(t, "end of the quiet websocket", atEnd); err == nil {
		t.Error("the quiet websocket got something")
	}
}
