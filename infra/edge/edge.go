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
	"sync"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

const (
	// Generous for a header, which a client sends in one go; also bounds the TLS handshake.
	readHeaderTimeout = 15 * time.Second
	// How long a connection may rest between requests. There is no limit on a request or a response itself: streams,
	// large files on slow lines and websockets last as long as they last.
	idleTimeout = 120 * time.Second
	// QUIC's own idle timeout (RFC 9000, section 10.1) is without any packet from the client, also while a response is
	// awaited; browsers send PINGs then.
	quicIdleTimeout = 60 * time.Second
	// Half of what workerd takes for a header (KJ, 128 KiB), as the edge adds to it.
	maxHeaderBytes = 64 << 10
)

// edge is the running program.
type edge struct {
	log        *reporter
	handler    *proxyHandler
	registry   *registry
	sampler    *sampler
	poster     *poster // nil: no samples
	upstream   *http.Transport
	spki       string
	qlogDir    string
	linger     lingerer
	maxStreams int  // of a connection, at a time
	earlyData  bool // 0-RTT is taken
	retry      bool // every QUIC client's address is validated first

	servers []*server
	health  *http.Server // nil: nobody is told
	failed  chan error   // what ended serving before shutdown

	stopBeat context.CancelFunc
	beating  sync.WaitGroup
	stopScan context.CancelFunc
	stopPost context.CancelFunc
	scanning sync.WaitGroup // the sampler, and the tracer if there is one
}

// server is one socket being served.
type server struct {
	socket socket
	http   *http.Server
	quic   *quicServer // nil: no HTTP/3
}

// startEdge binds everything, then serves. On error nothing is left behind.
func startEdge(opts options, log *reporter) (*edge, error) {
	cert, err := loadCertificate(opts, time.Now())
	if err != nil {
		return nil, err
	}
	leaf, err := leafOf(cert)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate: %w", err)
	}
	var sockets []socket
	for _, spec := range opts.listen {
		opened, err := openListen(spec)
		if err != nil {
			closeSockets(sockets)
			return nil, err
		}
		sockets = append(sockets, opened...)
	}

	bounds := newRequestBounds(opts, log)
	upstream := newTransport(opts.upstream, upstreamIdle, bounds.connected)
	var fallback *originFallback
	var transport http.RoundTripper = upstream
	if opts.origin != nil {
		fallback = newOriginFallback(upstream, opts, log)
		transport = fallback
	}
	e := &edge{
		log: log, registry: newRegistry(), upstream: upstream, spki: spkiSHA256(leaf), qlogDir: opts.qlogDir, earlyData: opts.earlyData, retry: opts.retry,
		maxStreams: opts.maxStreams,
		handler:    newProxyHandler(opts, transport, bounds.desk, log),
		failed:     make(chan error, 2*len(sockets)), // room for all, so that no server waits for a reader
	}
	var traces *tracer
	if opts.traceFile != "" {
		if traces, err = newTracer(opts.traceFile, e.registry, log); err != nil {
			closeSockets(sockets)
			return nil, err
		}
	}
	bounds.look(opts.upstream)
	e.startSampling(opts.samples, traces)
	e.startHeartbeat(fallback)
	tlsConfig := &tls.Config{
		Certificates: []tls.Certificate{cert},
		MinVersion:   tls.VersionTLS12, // below it are protocols that RFC 8996 forbids
		NextProtos:   []string{"h2", "http/1.1"},
	}
	for i, s := range sockets {
		srv, err := e.newServer(s, tlsConfig)
		if err != nil {
			closeSockets(sockets[i:])
			e.shutdown(time.Millisecond)
			return nil, err
		}
		e.servers = append(e.servers, srv)
	}
	if err := e.startHealth(opts.health, leaf, fallback); err != nil {
		closeSockets(sockets)
		e.shutdown(time.Millisecond)
		return nil, err
	}
	for _, srv := range e.servers {
		e.serve(srv)
	}
	return e, nil
}

// startSampling starts the two goroutines of the path samples, if anybody wants them, and that of a trace.
func (e *edge) startSampling(t target, traces *tracer) {
	e.sampler = &sampler{registry: e.registry, emit: func(pathSample) {}}
	scanCtx, stopScan := context.WithCancel(context.Background())
	postCtx, stopPost := context.WithCancel(context.Background())
	e.stopScan, e.stopPost = stopScan, stopPost
	if traces != nil {
		e.scanning.Go(func() { traces.run(scanCtx) })
	}
	if t == (target{}) {
		return
	}
	e.poster = newPoster(t, e.log)
	e.sampler.emit = e.poster.emit
	go e.poster.run(postCtx)
	e.scanning.Go(func() { e.sampler.run(scanCtx) })
}

// startHeartbeat starts watching the worker, if there is anybody else to ask.
func (e *edge) startHeartbeat(fallback *originFallback) {
	ctx, stop := context.WithCancel(context.Background())
	e.stopBeat = stop
	if fallback != nil {
		e.beating.Go(func() {
			fallback.run(ctx)
			fallback.origin.CloseIdleConnections()
		})
	}
}

// closed is called once for every connection, while its statistics can still be read.
func (e *edge) closed(c *connection) {
	e.sampler.closing(c, time.Now())
	e.registry.remove(c)
}

func (e *edge) newServer(s socket, tlsConfig *tls.Config) (*server, error) {
	srv := &server{socket: s, http: &http.Server{
		Handler:           e.handler,
		TLSConfig:         tlsConfig.Clone(),
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: e.maxStreams},
		ErrorLog:          e.log.logger("http"),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if t, ok := c.(*tls.Conn); ok {
				if t, ok := t.NetConn().(*tcpConn); ok {
					return withConnection(ctx, t.conn)
				}
			}
			return ctx
		},
	}}
	if s.udp == nil {
		return srv, nil
	}
	var err error
	srv.quic, err = e.newQUICServer(s, tlsConfig, srv.http)
	return srv, err
}

func (e *edge) listenQUIC(transport *quic.Transport, tlsConfig *tls.Config) (http3.QUICListener, error) {
	config := &quic.Config{
		MaxIdleTimeout:     quicIdleTimeout,
		MaxIncomingStreams: int64(e.maxStreams),
		Allow0RTT:          e.earlyData, // RFC 8470: a replayed request would count, and act, twice
		Tracer:             qlogTracer(e.qlogDir, e.log),
	}
	if e.earlyData {
		return transport.ListenEarly(tlsConfig, config)
	}
	// Not ListenEarly: a connection exists only once its handshake is complete, so its address is verified and its RTT
	// measured. No request comes earlier than that, as 0-RTT is off.
	return transport.Listen(tlsConfig, config)
}

func (e *edge) acceptQUIC(qc *quic.Conn) *connection {
	c := newQUICConnection(qc, time.Now())
	if e.earlyData {
		c.verified = func() bool {
			select {
			case <-qc.HandshakeComplete():
				return true
			default:
				return false
			}
		}
	}
	e.registry.add(c, func() { _ = qc.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") })
	// The statistics are final here: the connection's own goroutine has ended. No goroutine waits for it.
	context.AfterFunc(qc.Context(), func() { e.closed(c) })
	return c
}

func (e *edge) serve(srv *server) {
	ln := &tcpListener{TCPListener: srv.socket.tcp, registry: e.registry, onClose: e.closed, linger: &e.linger, quic: srv.quic}
	go func() {
		if err := srv.http.ServeTLS(ln, "", ""); !errors.Is(err, http.ErrServerClosed) {
			e.failed <- fmt.Errorf("HTTPS on %s ended: %w", srv.socket.address(), err)
		}
	}()
	if srv.quic != nil {
		go srv.quic.serve()
	}
}

// announce writes the one line that a launcher waits for.
func (e *edge) announce(w io.Writer) error {
	line := struct {
		Event      string   `json:"event"`
		Addresses  []string `json:"addresses"`
		HTTP3      []bool   `json:"http3"`
		SPKISHA256 string   `json:"spkiSha256"`
	}{Event: "listening", SPKISHA256: e.spki}
	for _, s := range e.servers {
		line.Addresses = append(line.Addresses, s.socket.address())
		line.HTTP3 = append(line.HTTP3, s.quic != nil)
	}
	return json.NewEncoder(w).Encode(line)
}
