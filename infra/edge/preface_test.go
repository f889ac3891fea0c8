package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// tickets tells of each session ticket: the server sends it last in a handshake.
type tickets chan struct{}

func (tickets) Get(string) (*tls.ClientSessionState, bool) { return nil, false }
func (t tickets) Put(string, *tls.ClientSessionState)      { t <- struct{}{} }

// A client that is gone before the first bytes of HTTP/2 is no error, also where its connection was reset. What is not HTTP/2 is one.
func TestAClientThatLeavesBeforeItsPrefaceIsNoError(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) {}))
	arrived := make(tickets, 8)
	config := e.tlsConfig()
	config.ServerName, config.NextProtos, config.ClientSessionCache = "localhost", []string{"h2"}, arrived
	open := func() (*net.TCPConn, *tls.Conn) {
		c, err := net.Dial("tcp", e.addresses[0])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		secured := tls.Client(c, config)
		if err := secured.Handshake(); err != nil {
			t.Fatal(err)
		}
		go secured.Read(make([]byte, 1))
		<-arrived
		return c.(*net.TCPConn), secured
	}
	for range 3 {
		c, _ := open()
		if err := c.SetLinger(0); err != nil {
			t.Fatal(err)
		}
		c.Close()
		_, secured := open()
		secured.Close()
	}
	_, secured := open()
	fmt.Fprint(secured, strings.Repeat("x", 24)) // as long as a preface
	edgetest.Eventually(t, "what is no preface is said", func() bool { return strings.Contains(e.stderr.String(), "bogus greeting") })
	e.end()
	if said := e.stderr.String(); strings.Count(said, "\n") != 1 || strings.Contains(said, "more of this kind") {
		t.Errorf("said: %s", said)
	}
}
