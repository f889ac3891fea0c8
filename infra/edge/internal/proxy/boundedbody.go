package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"adaptive-h3/infra/edge/internal/upstream"
)

var (
	// errBodyOver means that the visitor has the whole response, so that nobody wants the rest of the request's body.
	errBodyOver = errors.New("the response has ended")
	// errTimeout means that the upstream gave no response header in its time.
	errTimeout = errors.New("no response header within the time of -upstream-timeout")
)

// boundedBody is a visitor's request body, and the time that the upstream has for an answer.
//
// It bounds the pauses in the body while the upstream has not begun to answer. Without a bound a visitor who waits for an
// answer before sending more would wait for ever when the upstream dies: net/http's transport reports that only after the
// body's read has returned. Once the response's header is there, the stream may pause as long as it likes.
//
// It bounds the rate in the same way: the upstream may wait for the body as long as a pause may last, and longer by the time
// that the bytes so far take at the slowest rate. Without that bound a client that sends a byte a minute holds a place for ever.
//
// The upstream's own time does not run while it waits for the body. http.Transport.ResponseHeaderTimeout starts only when the whole
// request has been written, so an upstream that stops reading a large body would hold the visitor for ever.
//
// Where the visitor waits for 100 (Continue), the body is held back until the upstream has said that, or has begun to answer well, or
// has been silent for a while. The server would say 100 at the first read.
//
// The body also ends with its handler. After an early answer of the upstream the transport may still read the body, while
// the server reads the same connection for the next request.
type boundedBody struct {
	io.ReadCloser
	controller *http.ResponseController
	options    *Options
	cancel     context.CancelCauseFunc
	clock      *time.Timer   // ends the upstream's time; nil: it is not asked yet
	held       chan struct{} // closed once the body may go on; nil: nobody waits for 100 (Continue)
	pass       func()        // lets the body go on

	mu       sync.Mutex
	calls    sync.WaitGroup // of the body, that are under way
	since    time.Time      // when the read under way began
	waited   time.Duration
	got      int64 // bytes
	bounded  bool  // the server has a deadline for the body
	answered bool  // the bounds have ended
	over     error // what further reads get: io.EOF once the body's end has been read; nil: the body goes on
}

// boundBody bounds the request's body, if it has one, and the wait for an answer, from start on. The caller calls release when the
// answer begins, and end before the handler returns.
func boundBody(w http.ResponseWriter, r *http.Request, options *Options) (*http.Request, *boundedBody) {
	ctx, cancel := context.WithCancelCause(r.Context())
	b := &boundedBody{ReadCloser: r.Body, controller: http.NewResponseController(w), options: options, cancel: cancel, pass: func() {}}
	if passExpectation(r) {
		b.held = make(chan struct{})
		b.pass = sync.OnceFunc(func() { close(b.held) })
	}
	r = r.WithContext(ctx)
	if r.Body == nil || r.Body == http.NoBody {
		b.over = io.EOF
	} else {
		r.Body = b
	}
	return r, b
}

// start says that the upstream is asked now.
func (b *boundedBody) start() {
	b.clock = time.AfterFunc(b.options.UpstreamTimeout, func() { b.cancel(errTimeout) })
	if b.held != nil {
		time.AfterFunc(upstream.ExpectPatience, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			if !b.answered {
				b.pass()
			}
		})
	}
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.held != nil {
		<-b.held
	}
	if err := b.begin(nil); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.done(n, err)
	return n, err
}

// Close closes the server's body, which over HTTP/1.1 may read on to find its end.
func (b *boundedBody) Close() error {
	if b.begin(errBodyOver) != nil {
		return nil
	}
	err := b.ReadCloser.Close()
	b.done(0, errBodyOver)
	return err
}

// begin returns nil if a call may still touch the body. Then end waits until done is called, and further calls get over.
func (b *boundedBody) begin(over error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over != nil {
		return b.over
	}
	b.over = over
	b.calls.Add(1)
	if !b.answered {
		b.clock.Stop()
		b.since = time.Now()
		b.bounded = true
		_ = b.controller.SetReadDeadline(b.since.Add(b.patience()))
	}
	return nil
}

// patience is how long the next read may take.
func (b *boundedBody) patience() time.Duration {
	worth := time.Duration(float64(b.got) / float64(b.options.SlowestRate) * float64(time.Second))
	return min(b.options.BodyTimeout, max(b.options.BodyTimeout+worth-b.waited, 0))
}

func (b *boundedBody) done(n int, err error) {
	defer b.calls.Done()
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.answered {
		b.got += int64(n)
		b.waited += time.Since(b.since)
		b.clock.Reset(b.options.UpstreamTimeout)
	}
	if b.over == nil {
		b.over = err
	}
	if err != nil {
		b.unbound()
	}
}

// unbound ends the bound on pauses. A deadline that has passed stays: otherwise, over HTTP/1.1, the server would wait for the rest of
// the body after the answer. A deadline that has not passed would end the connection's next request.
func (b *boundedBody) unbound() {
	if b.bounded && !errors.Is(b.over, os.ErrDeadlineExceeded) {
		b.bounded = false
		_ = b.controller.SetReadDeadline(time.Time{})
	}
}

// release ends all bounds, and says whether the body has been read to its end. A second call does no harm.
func (b *boundedBody) release() (whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.answered = true
	if b.clock != nil {
		b.clock.Stop()
	}
	b.unbound()
	return errors.Is(b.over, io.EOF)
}

// failure returns the error with which the visitor's body ended early; nil: it did not.
func (b *boundedBody) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if errors.Is(b.over, io.EOF) || errors.Is(b.over, errBodyOver) {
		return nil
	}
	return b.over
}

// end lets go of the response writer and of the body: nobody may touch them once their handler has returned.
func (b *boundedBody) end() {
	if whole := b.release(); !whole {
		b.mu.Lock()
		b.over, b.bounded = errBodyOver, false
		// The deadline stays, so that the server does not look for the body's end either.
		_ = b.controller.SetReadDeadline(time.Unix(1, 0))
		b.mu.Unlock()
	}
	b.pass()
	b.calls.Wait()
}
