package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// echoUpgrade switches to a protocol that gives back what it gets. To the edge it is a websocket: it does not look inside.
func echoUpgrade(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Connection") != "Upgrade" || r.Header.Get("Mf-Cf-Blob") == "" {
		http.Error(w, fmt.Sprint(r.Header), http.StatusBadRequest)
		return
	}
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
	e := startEdgeWith(t, edgetest.StartUpstream(t, echoUpgrade), "-alt-svc", "strip", "-upstream-timeout", "100ms")
	c := e.openWebsocket("/socket")
	h := c.res.Header
	if h.Get("Sec-WebSocket-Accept") != "a2V5" || h.Get("Alt-Svc") != "" || h.Get("Server-Timing") == "" {
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
