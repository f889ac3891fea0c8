package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"adaptive-h3/infra/edge/internal/admission"
)

// proxyHandler answers every request, of whatever protocol, with what the upstream answers.
type proxyHandler struct {
	proxy        *httputil.ReverseProxy
	upstream     target
	desk         *admission.Desk
	log          *reporter
	altSvc       altSvcMode
	serverTiming bool
	bodyTimeout  time.Duration
	active       atomic.Int64 // requests being answered
}

// upstreamIdle is how many idle connections to the upstream are kept: enough for a load test's concurrency, far below
// the usual limits on open files.
const upstreamIdle = 512

func newProxyHandler(opts options, transport http.RoundTripper, desk *admission.Desk, log *reporter) *proxyHandler {
	p := &proxyHandler{upstream: opts.upstream, desk: desk, log: log, altSvc: opts.altSvc, serverTiming: opts.serverTiming, bodyTimeout: opts.bodyTimeout}
	p.proxy = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		Transport:      &headerTimeout{next: transport, timeout: opts.upstreamTimeout},
		FlushInterval:  -1, // pass on what there is: responses may be streams
		BufferPool:     newBufferPool(),
		ErrorLog:       log.logger("proxy"),
		ModifyResponse: p.modifyResponse,
		ErrorHandler:   p.fail,
	}
	return p
}

func (p *proxyHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.active.Add(1)
	defer p.active.Add(-1)
	c := connectionOf(r.Context())
	if c != nil {
		c.answering.Store(true)
		if c.rate != nil {
			c.sent.Add(1) // the header; how long it is does not matter
		}
	}
	r, body := boundBody(w, r, p.bodyTimeout)
	defer body.end()
	rw := &responseWriter{ResponseWriter: w, handler: p, request: r, conn: c, body: body}
	if strings.Contains(r.RequestURI, " ") {
		// HTTP/1.1's server refuses it too: in the upstream's request line it would begin another word.
		writeError(rw, http.StatusBadRequest, "a space in the request target")
		return
	}
	if r.Method == http.MethodConnect {
		// A tunnel is no request to an origin. Also websockets over HTTP/3 (RFC 9220, section 3, names this status).
		writeError(rw, http.StatusNotImplemented, "CONNECT is not supported")
		return
	}
	if isEarly(r) && r.Method != http.MethodGet && r.Method != http.MethodHead {
		// RFC 8470, section 5.2: the client sends it again once the handshake is complete.
		writeError(rw, http.StatusTooEarly, "not before the handshake is complete")
		return
	}
	release, err := p.desk.Admit(r.Context(), clientOf(c))
	if err != nil {
		p.log.report("requests", err.Error())
		writeUnavailable(rw, err.Error())
		return
	}
	defer release()
	switch r.ProtoMajor {
	case 1:
		// Otherwise the server reads the whole request before the first byte of the response: no streaming both ways.
		_ = http.NewResponseController(w).EnableFullDuplex()
	case 3:
		r = withoutEmptyBody(r)
	}
	p.proxy.ServeHTTP(rw, r)
	if c != nil && c.rate != nil {
		c.rate.responseEnds(time.Now())
	}
}

// isEarly says whether a request came in 0-RTT, and its handshake is not complete yet: it may be a replay (RFC 9001, section
// 9.2).
func isEarly(r *http.Request) bool { return r.TLS != nil && !r.TLS.HandshakeComplete }

// withoutEmptyBody gives a request that cannot be told from one with a body none, if it has none. HTTP/3's server knows
// only at the end of the stream, while a request with a body goes out chunked and cannot be tried again when a
// connection of the pool turns out to be closed. Only methods without a body in practice are waited for.
func withoutEmptyBody(r *http.Request) *http.Request {
	if r.ContentLength >= 0 || r.Body == nil {
		return r
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodDelete:
	default:
		return r
	}
	first := make([]byte, 1)
	n, err := io.ReadFull(r.Body, first)
	out := *r
	switch {
	case n > 0:
		out.Body = &resumedBody{first: first, ReadCloser: r.Body}
	case errors.Is(err, io.EOF):
		out.Body, out.ContentLength = http.NoBody, 0
	}
	return &out
}

// resumedBody is a body whose first byte has been read.
type resumedBody struct {
	first []byte
	io.ReadCloser
}

func (b *resumedBody) Read(p []byte) (int, error) {
	if len(b.first) > 0 {
		n := copy(p, b.first)
		b.first = b.first[n:]
		return n, nil
	}
	return b.ReadCloser.Read(p)
}

func (p *proxyHandler) rewrite(pr *httputil.ProxyRequest) {
	pr.Out.URL.Scheme, pr.Out.URL.Host = "http", p.upstream.urlHost()
	passTarget(pr.Out.URL, pr.In.RequestURI)
	pr.Out.Host = pr.In.Host
	dropForeignUpgrade(pr.Out.Header)

	c := connectionOf(pr.In.Context())
	var r reading
	var ok bool
	client := ""
	if c != nil {
		r, ok = c.read()
		if addr := c.client(); addr.IsValid() {
			client = addr.String()
		}
	}
	// RFC 8470, section 5.1; what a client itself says there passes.
	if isEarly(pr.In) {
		pr.Out.Header.Set("Early-Data", "1")
	}
	blob := newCFBlob(pr.In, c, r, ok)
	setMetadata(pr.Out, client, blob.encode())
}

// modifyResponse sees only switched protocols: those go past responseWriter.
func (p *proxyHandler) modifyResponse(res *http.Response) error {
	if res.StatusCode == http.StatusSwitchingProtocols {
		p.finishHeader(res.Header, res.Request, connectionOf(res.Request.Context()))
	}
	return nil
}

// finishHeader makes a response's header what the visitor gets. Server-Timing is read now, not when the request came:
// it goes to the page, which wants the latest.
func (p *proxyHandler) finishHeader(h http.Header, r *http.Request, c *connection) {
	switch p.altSvc {
	case altSvcStrip:
		h.Del("Alt-Svc")
	case altSvcOverride:
		h.Set("Alt-Svc", fmt.Sprintf(`h3=":%s"; ma=86400`, hostPort(r.Host)))
	}
	if !c.mayOffer() {
		dropOffers(h)
	}
	if p.serverTiming && c != nil {
		// In 0-RTT nothing is measured yet, and a zero would be a figure.
		if r, ok := c.read(); ok && r.rtt > 0 {
			h.Add("Server-Timing", serverTiming(c, r, time.Now()))
		}
	}
}

// dropOffers removes what an Alt-Svc offers, and keeps what takes offers back (RFC 7838, section 3).
func dropOffers(h http.Header) {
	if values := h.Values("Alt-Svc"); len(values) != 1 || strings.TrimSpace(values[0]) != "clear" {
		h.Del("Alt-Svc")
	}
}

// hostPort is the port that the visitor used, which need not be the one that is listened on.
func hostPort(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil && port != "" {
		return port
	}
	return "443"
}

// fail answers a request that the upstream did not.
func (p *proxyHandler) fail(w http.ResponseWriter, r *http.Request, err error) {
	var timeout net.Error
	switch {
	case errors.Is(err, errRequestBody) && errors.Is(err, os.ErrDeadlineExceeded):
		// Over HTTP/1.1 a read that failed cancels the context too: the visitor has not left. RFC 9110, section 15.5.9: with
		// this answer the connection ends.
		if r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close")
		}
		writeError(w, http.StatusRequestTimeout, "the request body paused for too long")
	case r.Context().Err() != nil:
		// The visitor left; nobody reads this, but the stream must not end as if all were well.
		panic(http.ErrAbortHandler)
	case errors.Is(err, errRequestBody):
		writeError(w, http.StatusBadRequest, "the request body could not be read")
	case errors.Is(err, errOwnPath):
		writeUnavailable(w, err.Error())
	case errors.Is(err, errUpstreamTimeout), errors.As(err, &timeout) && timeout.Timeout():
		p.log.report("upstream", fmt.Sprintf("%s: %v", p.upstream.address, describe(err)))
		writeError(w, http.StatusGatewayTimeout, "the server behind this one did not answer in time")
	default:
		p.log.report("upstream", fmt.Sprintf("%s: %v", p.upstream.address, describe(err)))
		writeError(w, http.StatusBadGateway, "the server behind this one cannot be reached")
	}
}

// describe shortens what every system call error of a refused connection says to what a reader needs.
func describe(err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case errors.Is(err, os.ErrNotExist):
		return errors.New("no such socket")
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("no connection in time")
	}
	return err
}

func writeError(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%d %s: %s\n", status, http.StatusText(status), reason)
}

// writeUnavailable answers what could be answered a moment later.
func writeUnavailable(w http.ResponseWriter, reason string) {
	w.Header().Set("Retry-After", "1")
	writeError(w, http.StatusServiceUnavailable, reason)
}

// bufferPool holds the buffers that bodies are copied through: one for each response in progress.
type bufferPool struct{ pool sync.Pool }

const copyBuffer = 32 << 10

func newBufferPool() *bufferPool {
	return &bufferPool{sync.Pool{New: func() any { return new([copyBuffer]byte) }}}
}

func (b *bufferPool) Get() []byte { return b.pool.Get().(*[copyBuffer]byte)[:] }

func (b *bufferPool) Put(p []byte) { b.pool.Put((*[copyBuffer]byte)(p)) }
