// Package testsite is a server of HTTP/1.1, HTTP/2 and HTTP/3 for the tests of this module.
package testsite

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// Address is a loopback address that nobody else listens on, so that TCP and UDP can have the same port.
const Address = "127.83.0.1"

// Site is a server of HTTP/1.1, HTTP/2 and HTTP/3 on one port.
type Site struct {
	Port  int
	Roots *x509.CertPool
	// The certificate, as PEM.
	CAFile string

	mu       sync.Mutex
	altSvc   func() []string
	handler  http.HandlerFunc
	held     chan struct{} // QUIC handshakes wait until it is closed
	requests []Request
	quic     []*quic.Conn
}

// Request is a request as the site saw it.
type Request struct {
	Protocol string // h1, h2, h3
	Path     string
	Header   http.Header
	Client   netip.Addr
	// Whether its TLS session was resumed.
	Resumed bool
}

// Start starts a site that ends with the test.
func Start(t *testing.T) *Site {
	t.Helper()
	certificate, leaf := makeCertificate(t)
	s := &Site{Roots: x509.NewCertPool(), CAFile: filepath.Join(t.TempDir(), "ca.pem")}
	s.Roots.AddCert(leaf)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})
	if err := os.WriteFile(s.CAFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	tcp, udp := listen(t)
	s.Port = tcp.Addr().(*net.TCPAddr).Port

	overTCP := &http.Server{
		Handler:           s,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}},
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	overTCP.Protocols = new(http.Protocols)
	overTCP.Protocols.SetHTTP1(true)
	overTCP.Protocols.SetHTTP2(true)
	config := http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{certificate}})
	released := config.Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		s.mu.Lock()
		held := s.held
		s.mu.Unlock()
		if held != nil {
			<-held
		}
		return released, nil
	}
	overQUIC := &http3.Server{
		Handler:   s,
		TLSConfig: config,
		ConnContext: func(ctx context.Context, conn *quic.Conn) context.Context {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.quic = append(s.quic, conn)
			return ctx
		},
	}
	go func() { _ = overTCP.ServeTLS(tcp, "", "") }()
	go func() { _ = overQUIC.Serve(udp) }()
	t.Cleanup(func() {
		_ = overTCP.Close()
		_ = overQUIC.Close()
		_ = udp.Close()
	})
	return s
}

// listen finds a port that is free for TCP and for UDP: a client's UDP socket may have any, on all addresses.
func listen(t *testing.T) (net.Listener, *net.UDPConn) {
	t.Helper()
	for {
		tcp, err := net.Listen("tcp", Address+":0")
		if err != nil {
			t.Fatal(err)
		}
		udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(Address), Port: tcp.Addr().(*net.TCPAddr).Port})
		if err == nil {
			return tcp, udp
		}
		_ = tcp.Close()
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
}

// ServeHTTP answers /bytes/N, /status/N and /short (a body that breaks off), and does not answer /never.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protocol := "h" + strconv.Itoa(r.ProtoMajor)
	s.mu.Lock()
	s.requests = append(s.requests, Request{
		protocol, r.URL.Path, r.Header, netip.MustParseAddrPort(r.RemoteAddr).Addr(), r.TLS.DidResume,
	})
	if s.altSvc != nil {
		for _, line := range s.altSvc() {
			w.Header().Add("Alt-Svc", line)
		}
	}
	handler := s.handler
	s.mu.Unlock()
	if handler != nil {
		handler(w, r)
	}
	kind, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	n, _ := strconv.Atoi(number)
	switch kind {
	case "bytes":
		// As a server of files does: with ranges.
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(make([]byte, n)))
	case "never":
		<-r.Context().Done()
	case "status":
		w.WriteHeader(n)
	case "short":
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write(make([]byte, 10))
	}
}

// Requests gives what was asked for, in the order of arrival.
func (s *Site) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// QUIC gives the QUIC connections that were accepted.
func (s *Site) QUIC() []*quic.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.quic)
}

// Offer sets what responses have as Alt-Svc.
func (s *Site) Offer(values ...string) { s.OfferBy(func() []string { return values }) }

// OfferBy asks at each response.
func (s *Site) OfferBy(altSvc func() []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.altSvc = altSvc
}

// Handle sets what is done of each request before its answer.
func (s *Site) Handle(handler http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = handler
}

// Hold makes QUIC handshakes wait until what it returns is closed.
func (s *Site) Hold() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = make(chan struct{})
	return s.held
}

func makeCertificate(t *testing.T) (tls.Certificate, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, leaf
}
