// Package origin asks the origin directly while the worker is gone, so that a visitor gets the origin's response whatever
// happens to the worker. Of this module it imports errorlog, fields, heartbeat, killswitch, metadata (for the header that
// must not reach the origin) and upstream.
package origin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/heartbeat"
	"adaptive-h3/infra/edge/internal/metadata"
	"adaptive-h3/infra/edge/internal/upstream"
)

var (
	// ErrOwnPath means that the worker is gone, and that the request is for one of the worker's own paths.
	ErrOwnPath   = errors.New("the worker does not answer, and this path is its own")
	errUnreached = errors.New("the worker did not reach the origin")
	// errWorkerGone means that the worker went while a request waited for its answer.
	errWorkerGone = errors.New("the worker is gone")
)

// UnreachedHeader marks a 502 that is the worker's own. No visitor sees it.
const UnreachedHeader = "Adaptive-H3-Unreached"

// Parse reads http://HOST[:PORT] or https://HOST[:PORT]. Its error says what is allowed.
func Parse(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" ||
		(u.Path != "" && u.Path != "/") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it must be http://HOST[:PORT] or https://HOST[:PORT], without a path")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// Fallback asks the worker, and asks the origin while the worker is gone. The worker counts as gone when its heartbeat fails;
// a late page is no sign of that. Of the requests that went to the worker, only those go to the origin too that cannot act
// twice: a request that never reached the worker, and a GET or HEAD without a body that the worker did not answer. An answer that
// cannot be read is one: the origin gave it.
type Fallback struct {
	worker  http.RoundTripper
	origin  *http.Transport
	url     *url.URL // the origin's scheme and host
	monitor *heartbeat.Monitor
	beats   *http.Client // asks the worker whether it is there
	log     *errorlog.Log

	undecided undecided
}

// New puts the origin at url behind the worker. watched is the worker's internal listener, which answers the heartbeat. Run
// has to run for the fallback to notice anything.
func New(worker http.RoundTripper, url *url.URL, watched upstream.Target, tell Exchange, log *errorlog.Log) *Fallback {
	beats := &http.Client{Transport: upstream.NewTransport(watched, 1, nil)}
	monitor := heartbeat.New(func(ctx context.Context) error { return askBeat(ctx, beats, watched, tell) }, func(gone bool) {
		if gone {
			log.Report("worker", fmt.Sprintf("%s does not answer: %s is asked instead, and nobody decides", watched.Address, url.Host))
		} else {
			log.Report("worker back", watched.Address+" answers again")
		}
	})
	return &Fallback{worker: worker, origin: newTransport(), url: url, monitor: monitor, beats: beats, log: log}
}

// Run watches the worker until ctx ends, and closes the connections at rest. It says at once if the origin cannot be reached by TLS.
func (f *Fallback) Run(ctx context.Context) {
	var checking sync.WaitGroup
	checking.Go(func() {
		for _, problem := range f.Problems(ctx) {
			f.log.Report("origin", problem)
		}
	})
	f.monitor.Run(ctx)
	checking.Wait()
	f.beats.CloseIdleConnections()
	f.origin.CloseIdleConnections()
}

// WorkerGone says whether the worker's heartbeat fails, so that the origin is asked.
func (f *Fallback) WorkerGone() bool { return f.monitor.Gone() }

// newTransport makes a pool of connections to the origin.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: upstream.DialTimeout}
	return upstream.NewPool(upstream.MaxIdle, dialer.DialContext, nil)
}

// ownPatience is how long a request for one of the worker's own paths waits for a worker that is gone. Nobody else may see
// the request, and the worker may only be busy.
const ownPatience = 2 * time.Second

// RoundTrip asks the worker, and the origin where that is safe. Its errors are ErrOwnPath and those of the two transports.
//
// A websocket always goes to the origin. The worker has nothing to say about it, and workerd keeps the connection to an origin that
// does not read, also after its client has gone: 10,000 such websockets would take 30,000 of its descriptors (measured).
func (f *Fallback) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.EqualFold(req.Header.Get("Upgrade"), "websocket") && !workersOwn(req.URL) {
		return f.askOrigin(req)
	}
	if f.monitor.Gone() {
		if !workersOwn(req.URL) {
			return f.passBy(req)
		}
		// A page's load event waits for the reporter.
		if forPages(req.URL) || !f.monitor.Await(req.Context(), ownPatience) {
			return nil, ErrOwnPath
		}
	}
	res, again, err := f.askWorker(req)
	switch {
	case !again:
		return res, err
	case !workersOwn(req.URL):
		return f.passBy(req)
	case errors.Is(err, errWorkerGone) && !forPages(req.URL) && f.monitor.Await(req.Context(), ownPatience):
		return f.worker.RoundTrip(req)
	}
	return nil, ErrOwnPath
}

// askWorker asks the worker. Where that fails, again says that the request cannot act twice if it is sent once more. The
// error is then errWorkerGone if the worker went while the request waited.
func (f *Fallback) askWorker(req *http.Request) (res *http.Response, again bool, err error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	asked := req.WithContext(ctx)
	var body *heldBody
	if hasBody(req) {
		body = &heldBody{ReadCloser: req.Body}
		asked.Body = body
	}
	safe := body == nil && (req.Method == http.MethodGet || req.Method == http.MethodHead)
	forget, giveUp := func() {}, func() { cancel(errWorkerGone) }
	var answered atomic.Bool // the worker, in a way that may be unreadable
	if safe {
		forget = f.monitor.OnGone(giveUp)
		asked = asked.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { answered.Store(true) }}))
	}
	res, err = f.worker.RoundTrip(asked)
	forget()
	gone := context.Cause(ctx)
	if err == nil && gone == nil {
		// The worker answered in the origin's place, because it could not reach it. It may only be out of descriptors.
		if safe && res.Header.Get(UnreachedHeader) != "" {
			res.Body.Close()
			cancel(nil)
			return nil, true, errUnreached
		}
		if res.Header.Get(UnreachedHeader) == "" {
			f.undecided.answered(req.URL)
		}
		// ctx must outlive this call, as the response's body still depends on it; it ends with the request's own.
		return res, false, nil
	}
	if err == nil {
		// The worker answered at the moment when this call gave it up, or when the visitor left.
		res.Body.Close()
		err = gone
	}
	cancel(nil)
	switch {
	case req.Context().Err() != nil:
		return nil, false, err
	case errors.Is(gone, errWorkerGone):
		return nil, true, gone
	}
	return nil, (safe && !answered.Load()) || neverReached(err, body), err
}

// passBy asks the origin in the worker's place.
func (f *Fallback) passBy(req *http.Request) (*http.Response, error) {
	f.undecided.asked(time.Now())
	return f.askOrigin(req)
}

// askOrigin sends the request as the worker would have sent it (testdata/origin-requests.json).
func (f *Fallback) askOrigin(req *http.Request) (*http.Response, error) {
	asked := req.Clone(req.Context())
	asked.URL.Scheme, asked.URL.Host = f.url.Scheme, f.url.Host
	asked.Host = f.url.Host
	asked.Header.Del(metadata.HeaderCF)
	res, err := f.origin.RoundTrip(asked)
	if err != nil {
		return nil, fmt.Errorf("the origin %s: %w", f.url.Host, err)
	}
	asWorker(res)
	return res, nil
}
