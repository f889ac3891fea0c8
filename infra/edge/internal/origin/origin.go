// Package origin asks the origin directly: while the worker is gone, so that a visitor gets the origin's response whatever
// happens to the worker, and for what the worker has no say in. Of this module it imports errorlog, fields, heartbeat
// and upstream, and connpath (for the header that must not reach the origin).
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

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/heartbeat"
	"adaptive-h3/infra/edge/internal/upstream"
)

var (
	// ErrOwnPath means that the worker is gone, and that the request is for one of the worker's own paths.
	ErrOwnPath   = errors.New("the worker does not answer, and this path is its own")
	errUnreached = errors.New("the worker did not reach the origin")
	// errWorkerGone means that the worker went while a request waited for its answer.
	errWorkerGone = errors.New("the worker is gone")
)

// Error is one of the origin's, when the edge asked it.
type Error struct {
	Host string
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("the origin %s: %v", e.Host, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

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

// Fallback asks the worker for what may be a page, and asks the origin while the worker is gone. The worker counts as gone when
// its heartbeat fails; a late page is no sign of that. What the worker did not answer goes to the origin too: it cannot act twice.
// An answer that cannot be read is one: the origin gave it.
type Fallback struct {
	worker  http.RoundTripper
	origin  *upstream.Pool
	url     *url.URL // the origin's scheme and host
	monitor *heartbeat.Monitor
	beats   *http.Client // asks the worker whether it is there
	log     *errorlog.Log

	undecided undecided
}

// New puts the origin at url behind the worker. watched is the worker's internal listener, which answers the heartbeat. Run
// has to run for the fallback to notice anything.
func New(worker http.RoundTripper, url *url.URL, watched upstream.Target, exchange heartbeat.Exchange, log *errorlog.Log) *Fallback {
	beats := &http.Client{Transport: upstream.NewTransport(watched, 1)}
	monitor := heartbeat.New(func(ctx context.Context) error { return exchange.Ask(ctx, beats, watched) }, func(gone bool) {
		if gone {
			log.Report("worker", fmt.Sprintf("%s does not answer: %s is asked instead, and nobody decides", watched.Address, url.Host))
		} else {
			log.Report("worker back", watched.Address+" answers again")
		}
	})
	dialer := &net.Dialer{Timeout: upstream.DialTimeout}
	return &Fallback{worker: worker, origin: upstream.NewPool(dialer.DialContext, nil), url: url, monitor: monitor, beats: beats, log: log}
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

// ownPatience is how long a request for one of the worker's own paths waits for a worker that is gone. Nobody else may see
// the request, and the worker may only be busy.
const ownPatience = 2 * time.Second

// RoundTrip asks the worker, and the origin where that is safe. Its errors are ErrOwnPath, those of the worker's transport, and Error.
//
// The worker decides pages, so all but a GET or HEAD without a body goes to the origin at once. workerd would only add faults of its
// own: it asks on a connection that the origin is closing, loses an answer that comes before a body's end, and passes no 100
// (Continue) on. A websocket goes there too: workerd keeps the connection to an origin that does not read, also after its client has
// gone, and 10,000 such websockets would take 30,000 of its descriptors (measured).
func (f *Fallback) RoundTrip(req *http.Request) (*http.Response, error) {
	if workersOwn(req.URL) {
		return f.askOwn(req)
	}
	if !isRepeatable(req) || strings.EqualFold(req.Header.Get("Upgrade"), "websocket") {
		return f.askOrigin(req)
	}
	if f.monitor.Gone() {
		return f.passBy(req)
	}
	res, again, err := f.askWorker(req)
	if again {
		return f.passBy(req)
	}
	if err == nil {
		f.undecided.answered()
	}
	return res, err
}

// isRepeatable says whether a request can be sent twice, because it cannot act.
func isRepeatable(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (r.Body == nil || r.Body == http.NoBody)
}

// askWorker asks the worker what can be asked again. again says that it gave no answer; the error is then errWorkerGone if it went
// meanwhile.
func (f *Fallback) askWorker(req *http.Request) (res *http.Response, again bool, err error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	forget := context.AfterFunc(f.monitor.There(), func() { cancel(errWorkerGone) })
	var answered atomic.Bool // in a way that may be unreadable
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { answered.Store(true) }})
	res, err = f.worker.RoundTrip(req.WithContext(traced))
	gone := context.Cause(ctx)
	if !forget() { // from here on an answer is not given up any more
		gone = errWorkerGone
	}
	if err == nil && gone == nil && res.Header.Get(UnreachedHeader) == "" {
		// ctx must outlive this call, as the response's body still depends on it; it ends with the request's own.
		return res, false, nil
	}
	cancel(nil)
	if err == nil {
		res.Body.Close()
		err = gone // it answered at the moment when this call gave it up, or when the visitor left
		if gone == nil {
			// It answered in the origin's place, because it could not reach it. It may only be out of descriptors.
			return nil, true, errUnreached
		}
	}
	switch {
	case req.Context().Err() != nil:
		return nil, false, err
	case errors.Is(gone, errWorkerGone):
		return nil, true, gone
	}
	return nil, !answered.Load(), err
}

// askOwn asks the worker for what is its own. A call of the API waits a while for a worker that is gone.
func (f *Fallback) askOwn(req *http.Request) (*http.Response, error) {
	waits := func() bool {
		// A page's load event waits for the reporter.
		return !forPages(req.URL) && f.monitor.Await(req.Context(), ownPatience)
	}
	if f.monitor.Gone() && !waits() {
		return nil, ErrOwnPath
	}
	if !isRepeatable(req) {
		res, err := f.worker.RoundTrip(req)
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" {
			return nil, ErrOwnPath
		}
		return res, err
	}
	res, again, err := f.askWorker(req)
	switch {
	case !again:
		return res, err
	case errors.Is(err, errWorkerGone) && waits():
		return f.worker.RoundTrip(req)
	}
	return nil, ErrOwnPath
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
	asked.Header.Del(connpath.HeaderCF)
	res, err := f.origin.RoundTrip(asked)
	if err != nil {
		return nil, &Error{Host: f.url.Host, Err: err}
	}
	asWorker(res)
	return res, nil
}
