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
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/certificate"
	"adaptive-h3/infra/edge/internal/crowd"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/giveback"
	"adaptive-h3/infra/edge/internal/heartbeat"
	"adaptive-h3/infra/edge/internal/listen"
	"adaptive-h3/infra/edge/internal/operator"
	"adaptive-h3/infra/edge/internal/origin"
	"adaptive-h3/infra/edge/internal/pathsample"
	"adaptive-h3/infra/edge/internal/proxy"
	"adaptive-h3/infra/edge/internal/quicserver"
	"adaptive-h3/infra/edge/internal/rehearsal"
	"adaptive-h3/infra/edge/internal/resting"
	"adaptive-h3/infra/edge/internal/trace"
	"adaptive-h3/infra/edge/internal/upstream"
)

const (
	// Generous for a header, which a client sends at once. It also bounds the TLS handshake.
	readHeaderTimeout = 15 * time.Second
	// Half of what workerd accepts for a header (KJ, 128 KiB), because the edge adds to the header.
	maxHeaderBytes = 64 << 10
)

// edge is the running program.
type edge struct {
	log          *errorlog.Log
	certificates *certificate.Set
	handler      *proxy.Handler
	registry     *connpath.Registry
	crowd        *crowd.Crowd
	ended        *rehearsal.Ended // nil: no rehearsals
	handshakes   *quicserver.Handshakes

	servers []*server
	metrics *operator.Metrics
	failed  chan error // the errors that ended serving before shutdown

	accepting sync.WaitGroup
	succeeded chan struct{} // closed once another program serves the same sockets
	succeed   func()

	// stops undo what was started, the last one first. Those that wait for clients wait no longer than their context.
	stops []func(context.Context)
}

// server is one socket being served.
type server struct {
	socket listen.Socket
	http   *http.Server
	quic   *quicserver.Server // nil: no HTTP/3
	stack  *connpath.Stack
	serves *atomic.Bool // HTTP/3 serves and answers; nil: no HTTP/3
}

// startEdge binds everything, then serves. On error nothing is left behind.
//
// Each part comes after those that it hands something to, so that the stops, which run backwards, end a source before what it feeds:
// connections before the sampler that reads them, the sampler before the poster, the poster before the way to the server behind.
// What has an address of its own comes last and goes first, as the program that follows takes its place.
func startEdge(opts options, log *errorlog.Log) (_ *edge, err error) {
	certificates, err := certificate.Open(opts.certificate, time.Now(), func(text string) { log.Report("certificate", text) })
	if err != nil {
		return nil, err
	}
	resetSecret, err := certificate.ResetSecret(opts.certificate.StateDir)
	if err != nil {
		log.Report("HTTP/3", err.Error())
	}
	sockets, err := listen.Open(opts.listen...)
	if err != nil {
		return nil, err
	}
	e := &edge{
		log: log, registry: &connpath.Registry{}, certificates: certificates, crowd: crowd.New(opts.connections),
		handshakes: quicserver.NewHandshakes(opts.handshakes, log), succeeded: make(chan struct{}),
		failed: make(chan error, 2*len(sockets)), // room for all, so that no server waits for a reader
	}
	defer func() {
		if err != nil {
			e.shutdown(time.Millisecond)
		}
	}()
	e.onStop(func(context.Context) { listen.Close(sockets) })
	e.registry.Added = e.crowd.Add
	e.succeed = sync.OnceFunc(func() { close(e.succeeded) })

	opts.proxy.Kill, opts.proxy.Covers = &heartbeat.KillSwitch{}, certificates.Covers
	opts.proxy.HoldOffers = opts.rehearsal
	bounds := upstream.NewBounds(opts.requests, log)
	pool := upstream.NewPool(opts.proxy.Upstream.Dial, bounds.Connected)
	e.onStop(func(context.Context) { pool.CloseIdleConnections() })
	subject := &operator.Subject{
		Registry: e.registry, Crowded: e.crowd.Closed, Desk: bounds.Desk(), Handshakes: e.handshakes.Counts, Certificates: certificates,
		Descriptors: bounds.Descriptors,
	}
	var fallback *origin.Fallback
	var transport http.RoundTripper = pool
	if opts.origin != nil {
		fallback = origin.New(pool, opts.origin, opts.samples, heartbeat.Exchange{Kill: opts.proxy.Kill, HTTP3: e.http3, Buffers: e.buffers}, log)
		transport, subject.Origin = fallback, fallback
	}
	e.handler = proxy.New(opts.proxy, transport, bounds.Desk(), log)
	subject.Misdirected = e.handler.Misdirected
	e.metrics = operator.NewMetrics(subject)
	bounds.Look(opts.proxy.Upstream)

	if opts.samples != (upstream.Target{}) {
		poster := pathsample.NewPoster(opts.samples, log)
		e.registry.Emit = poster.Emit
		e.background(poster.Run)
		e.background(e.registry.Run)
		if opts.rehearsal {
			e.ended = rehearsal.NewEnded()
			e.background(func(ctx context.Context) { rehearsal.Run(ctx, e.registry, e.ended) })
		}
	}
	if opts.traceFile != "" {
		write, err := trace.Windows(opts.traceFile, e.registry, log)
		if err != nil {
			return nil, err
		}
		e.background(write)
	}
	e.background(func(ctx context.Context) { resting.Run(ctx, e.registry, opts.proxy.RestTimeout) })
	e.background(giveback.Run)
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	e.background(func(ctx context.Context) {
		defer signal.Stop(reload)
		certificates.Run(ctx, reload)
	})

	tlsConfig := &tls.Config{
		GetCertificate: certificates.Get,
		MinVersion:     tls.VersionTLS12, // below it are protocols that RFC 8996 forbids
		NextProtos:     []string{"h2", "http/1.1"},
	}
	for _, s := range sockets {
		srv, err := e.newServer(s, tlsConfig, resetSecret, opts)
		if err != nil {
			return nil, err
		}
		e.servers = append(e.servers, srv)
		place := operator.Place{Address: s.Address(), ReachedAt: s.ReachedAt(), Serves: srv.serves, TCPWarning: s.WeakCongestion()}
		e.metrics.Listens(s.Congestion)
		if place.TCPWarning != "" {
			log.Report("TCP", place.TCPWarning) // the same for all: one line
		}
		if srv.quic != nil {
			place.Warning = srv.quic.SmallBuffers
			e.onStop(func(context.Context) { srv.quic.Close() })
			if warning := srv.quic.SmallBuffers(); warning != "" {
				log.Report("UDP", warning)
			}
		}
		subject.Places = append(subject.Places, place)
	}
	if fallback != nil {
		e.background(fallback.Run) // it tells the worker whether the servers serve
	}
	e.onStop(e.drain)
	health, err := operator.ServeHealth(opts.health, subject, log)
	if err != nil {
		return nil, err
	}
	e.onStop(func(context.Context) { _ = health.Close() })
	figures, err := e.metrics.Serve(opts.metrics, log)
	if err != nil {
		return nil, err
	}
	e.onStop(func(context.Context) { _ = figures.Close() })
	for _, srv := range e.servers {
		e.serve(srv)
	}
	return e, nil
}

func (e *edge) onStop(stop func(context.Context)) { e.stops = append(e.stops, stop) }

// background runs f beside everything else. Its stop waits for its end.
func (e *edge) background(f func(context.Context)) {
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	e.onStop(func(context.Context) { end(); running.Wait() })
}

// http3 says whether HTTP/3 serves and answers on every address.
func (e *edge) http3() string {
	said := "off"
	for _, s := range e.servers {
		if s.serves == nil {
			continue
		}
		if !s.serves.Load() {
			return "down"
		}
		said = "ok"
	}
	return said
}

// buffers gives the smallest buffers of the UDP sockets, as the heartbeat announces them.
func (e *edge) buffers() string {
	said := ""
	var least quicserver.Buffers
	for _, s := range e.servers {
		if s.quic == nil {
			continue
		}
		b := s.quic.Buffers()
		if said != "" {
			b.Receive, b.Send = min(b.Receive, least.Receive), min(b.Send, least.Send)
		}
		least, said = b, fmt.Sprintf("%d %d %d", b.Receive, b.Send, b.Wanted)
	}
	return said
}

// closed sees every connection once, while its statistics can still be read.
func (e *edge) closed(c *connpath.Connection) {
	e.registry.SampleClosing(c)
	e.ended.Note(c, time.Now())
	e.metrics.Closed(c)
	e.registry.Remove(c)
	e.crowd.Remove(c)
}

func (e *edge) newServer(s listen.Socket, tlsConfig *tls.Config, resetSecret [32]byte, opts options) (*server, error) {
	srv := &server{socket: s, stack: stackOf(s), http: &http.Server{
		Handler:           e.metrics.Count(e.handler),
		TLSConfig:         tlsConfig.Clone(),
		ReadHeaderTimeout: readHeaderTimeout, // and no IdleTimeout or ReadTimeout: see internal/resting
		MaxHeaderBytes:    maxHeaderBytes,
		// OPTIONS * comes to the handler, as over HTTP/3.
		DisableGeneralOptionsHandler: true,
		HTTP2:                        &http.HTTP2Config{MaxConcurrentStreams: opts.maxStreams, WriteByteTimeout: opts.proxy.UnreadTimeout},
		ErrorLog:                     e.log.Logger("http"),
		ConnState:                    e.metrics.Ended,
		ConnContext:                  connpath.ConnContext,
	}}
	if s.UDP == nil {
		return srv, nil
	}
	srv.serves = new(atomic.Bool)
	bind := func() (*net.UDPConn, error) {
		conn, err := listen.UDP(s.TCP)
		if err == nil {
			e.metrics.SocketReopened()
		}
		return conn, err
	}
	var waits func(netip.Addr) bool
	if opts.rehearsal {
		waits = func(client netip.Addr) bool { return rehearsal.Waits(e.registry, client, time.Now()) }
	}
	var err error
	srv.quic, err = quicserver.New(quicserver.Options{
		Address: s.Address(), ReachedAt: s.ReachedAt(), UDP: s.UDP, Bind: bind, TLS: tlsConfig,
		Handler: e.metrics.Count(e.handler), InContext: srv.http, MaxHeaderBytes: maxHeaderBytes,
		MaxStreams: opts.maxStreams, EarlyData: opts.earlyData, Handshakes: e.handshakes, Waits: waits,
		ResetSecret: resetSecret, Registry: e.registry, OnClose: e.closed, Serves: srv.serves, Log: e.log,
		Stack: srv.stack, Shared: s.Inherited, Folder: opts.certificate.StateDir, OnSuccessor: e.succeed,
	})
	return srv, err
}

// stackOf names the senders of a socket.
func stackOf(s listen.Socket) *connpath.Stack {
	stack := &connpath.Stack{TCP: s.Congestion}
	if s.UDP != nil {
		stack.QUIC = "quic-go"
	}
	return stack
}

func (e *edge) serve(srv *server) {
	opened := func(c *connpath.Connection) {
		c.Serves, c.Stack = srv.serves, srv.stack
		e.registry.Add(c)
	}
	ln := &connpath.Listener{TCPListener: srv.socket.TCP, Opened: opened, Closing: e.closed}
	e.accepting.Go(func() {
		// shutdown closes the listener before the server.
		if err := srv.http.ServeTLS(ln, "", ""); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			e.failed <- fmt.Errorf("HTTPS on %s ended: %w", srv.socket.Address(), err)
		}
	})
	if srv.quic != nil {
		go srv.quic.Serve()
	}
}

// announce writes the one line that a launcher waits for.
func (e *edge) announce(w io.Writer) error {
	line := struct {
		Event      string           `json:"event"`
		Addresses  []netip.AddrPort `json:"addresses"`
		HTTP3      []bool           `json:"http3"`
		Congestion []string         `json:"congestion"` // of TCP
		SPKISHA256 string           `json:"spkiSha256"`
	}{Event: "listening", SPKISHA256: certificate.SPKISHA256(e.certificates.Leaves()[0])}
	for _, s := range e.servers {
		line.Addresses = append(line.Addresses, s.socket.Address())
		line.HTTP3 = append(line.HTTP3, s.quic != nil)
		line.Congestion = append(line.Congestion, s.socket.Congestion)
	}
	return json.NewEncoder(w).Encode(line)
}
