package upstream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

var (
	// ErrTimeout means that the upstream gave no response header in its time.
	ErrTimeout = errors.New("no response header within the time of -upstream-timeout")
	// ErrRequestBody means that the visitor's own request body failed, which is not the upstream's fault.
	ErrRequestBody = errors.New("the request body could not be read")
)

// headerTimeout bounds the upstream's time to its response header. It does not count the time in which it waits for the
// visitor's request body. http.Transport.ResponseHeaderTimeout starts only when the whole request has been written, so an
// upstream that stops reading a large body would hold the visitor for ever.
type headerTimeout struct {
	next    http.RoundTripper
	timeout time.Duration
}

// WithHeaderTimeout bounds the time that next has for a response header. Its errors are ErrTimeout, ErrRequestBody (wrapped
// together with the body's own error), and those of next.
func WithHeaderTimeout(next http.RoundTripper, timeout time.Duration) http.RoundTripper {
	return &headerTimeout{next: next, timeout: timeout}
}

func (t *headerTimeout) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	wait := newHeaderWait(t.timeout, func() { cancel(ErrTimeout) })
	req = req.WithContext(ctx)
	var body *timedBody
	if req.Body != nil && req.Body != http.NoBody {
		body = &timedBody{ReadCloser: req.Body, wait: wait}
		req.Body = body
	}

	res, err := t.next.RoundTrip(req)
	wait.end()
	switch {
	case errors.Is(context.Cause(ctx), ErrTimeout):
		if res != nil {
			res.Body.Close()
		}
		return nil, ErrTimeout
	case err == nil:
		// ctx must outlive this call, as the response's body still depends on it; it ends with the request's own.
		return res, nil
	case body != nil:
		if failure := body.failure.Load(); failure != nil {
			err = errors.Join(ErrRequestBody, *failure, err)
		}
	}
	cancel(err)
	return nil, err
}

// headerWait is the clock of one request. It runs except while the visitor's body is being read.
type headerWait struct {
	mu      sync.Mutex
	timer   *time.Timer
	timeout time.Duration
	stopped bool // paused or ended: a timer that fires now came too late
	ended   bool
}

func newHeaderWait(timeout time.Duration, expired func()) *headerWait {
	w := &headerWait{timeout: timeout}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(timeout, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.stopped {
			expired()
		}
	})
	return w
}

// run lets the clock run from the beginning, or stops it.
func (w *headerWait) run(runs bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = w.ended || !runs
	if w.stopped {
		w.timer.Stop()
	} else {
		w.timer.Reset(w.timeout)
	}
}

func (w *headerWait) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped, w.ended = true, true
	w.timer.Stop()
}

// timedBody is the visitor's request body: reading it pauses the clock.
type timedBody struct {
	io.ReadCloser
	wait    *headerWait
	failure atomic.Pointer[error]
}

func (b *timedBody) Read(p []byte) (int, error) {
	b.wait.run(false)
	defer b.wait.run(true)
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.failure.Store(&err)
	}
	return n, err
}
