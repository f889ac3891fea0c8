// Package proxy answers every request, over any protocol, with what the upstream answers. Of this module it imports
// admission, connpath, errorlog, fields, heartbeat, origin (for one error, and for the worker's own paths), unread and upstream.
// It does not know how connections are accepted.
package proxy

import (
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync/atomic"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/heartbeat"
	"adaptive-h3/infra/edge/internal/origin"
	"adaptive-h3/infra/edge/internal/upstream"
)

// Options are what a handler needs of the command line.
type Options struct {
	Upstream        upstream.Target
	UpstreamTimeout time.Duration // that the upstream has for its response header
	BodyTimeout     time.Duration // that a visitor's request body may pause before the upstream answers
	SlowestRate     int           // bytes a second of a request body, on average, once BodyTimeout has passed
	RestTimeout     time.Duration // that a websocket may be quiet
	UnreadTimeout   time.Duration // that a write may wait for the visitor
	ServerTiming    bool          // add Server-Timing: cfL4 to responses
	HoldOffers      bool          // offer HTTP/3 to Firefox with the first of a page's files, not with the page
	StaysOnClear    bool          // ask no visitor to leave HTTP/3 who is told clear
	AsCloudflare    bool          // tell the upstream of a connection only what Cloudflare tells
	Kill            *heartbeat.KillSwitch
	Covers          func(host string) bool // says whether a host, a name or an IP address without port, is here; nil: each is
}

// Handler passes requests on to the upstream, and its responses to the visitors.
type Handler struct {
	options Options
	proxy   *httputil.ReverseProxy
	desk    *admission.Desk
	log     *errorlog.Log
	active  atomic.Int64 // requests being answered
	last    atomic.Bool  // LastRequests was called
	// misdirected counts the requests for hosts that are not here.
	misdirected atomic.Uint64
	// pseudonym is this process in the header CDN-Loop: one value.
	pseudonym []string
}

// New makes a handler that admits requests at desk, and sends them over transport.
func New(options Options, transport http.RoundTripper, desk *admission.Desk, log *errorlog.Log) *Handler {
	p := &Handler{options: options, desk: desk, log: log, pseudonym: newPseudonym()}
	p.proxy = &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		Transport:      transport,
		FlushInterval:  -1, // flush at once: responses may be streams
		BufferPool:     newBufferPool(),
		ErrorLog:       log.Logger("proxy"),
		ModifyResponse: p.modifyResponse,
		ErrorHandler:   p.fail,
	}
	return p
}

// LastRequests has every further response over TCP say that no request will be answered after it on its connection. The server
// of HTTP/2 makes a GOAWAY of that.
func (p *Handler) LastRequests() { p.last.Store(true) }

// Misdirected returns how many requests were for hosts that are not here.
func (p *Handler) Misdirected() uint64 { return p.misdirected.Load() }

// Active returns how many requests are being answered.
func (p *Handler) Active() int64 { return p.active.Load() }

// ServeHTTP answers one request. It panics with http.ErrAbortHandler where the visitor left, or where the upstream broke
// off, so that the server does not end the response as if it were whole.
func (p *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.active.Add(1)
	defer p.active.Add(-1)
	c := connpath.FromContext(r.Context())
	c.RequestBegins(time.Now())
	defer func() { c.RequestEnds(time.Now()) }()
	r, body := boundBody(w, r, &p.options)
	defer body.end()
	rw := &responseWriter{ResponseWriter: w, handler: p, request: r, conn: c, body: body}
	for _, refused := range refusals {
		if refused.when(p, r) {
			writeError(rw, refused.status, refused.reason)
			return
		}
	}
	if !boundAPIBody(w, r) {
		writeAPIBodyTooLarge(rw)
		return
	}
	release, err := p.admit(r, admission.Client(c.Client()))
	if err != nil {
		p.log.Report("requests", err.Error())
		writeUnavailable(rw, err.Error())
		return
	}
	defer release()
	body.start()
	switch r.ProtoMajor {
	case 1:
		// Otherwise the server reads the whole request before it writes the response, and nothing can stream both ways.
		_ = http.NewResponseController(w).EnableFullDuplex()
	default:
		r = withoutEmptyBody(r)
	}
	p.proxy.ServeHTTP(rw, r)
}

func (p *Handler) admit(r *http.Request, client netip.Prefix) (release func(), err error) {
	if wantsWebsocket(r.Header) {
		return p.desk.AdmitLong(client)
	}
	return p.desk.Admit(r.Context(), client, func() bool { return origin.ForOperators(r) })
}
