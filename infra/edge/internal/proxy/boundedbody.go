package proxy

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"adaptive-h3/infra/edge/internal/upstream"
)

// errBodyOver means that the visitor has the whole response, so that nobody wants the rest of the request's body.
var errBodyOver = errors.New("the response has ended")

// boundedBody is a visitor's request body.
//
// It bounds the pauses in the body while the upstream has not begun to answer. Without a bound a visitor who waits for an
// answer before sending more would wait for ever when the upstream dies: net/http's transport reports that only after the
// body's read has returned. Once the response's header is there, the stream may pause as long as it likes.
//
// It bounds the rate in the same way: the upstream may wait for the body as long as a pause may last, and longer by the time
// that the bytes so far take at the slowest rate. Without that bound a client that sends a byte a minute holds a place for ever.
//
// Where the visitor waits for 100 (Continue), the body is held back until the upstream has said that, or has begun to answer well, or
// has been silent for a while. The server would say 100 at the first read.
//
// The body also ends with its handler. After an early answer of the upstream the transport may still read the body, while
// the server reads the same connection for the next request.
type boundedBody struct {
	io.ReadCloser
	controller *http.ResponseController
	timeout    time.Duration
	rate       int // bytes per second

	mu       sync.Mutex
	idle     sync.Cond // signals a change of calls, held and ended
	calls    int       // calls of the body that are under way
	since    time.Time // when the read under way began
	waited   time.Duration
	got      int64 // bytes
	held     bool
	silence  *time.Timer // ends the wait for 100 (Continue); nil: nobody waits
	released bool
	expired  bool
	whole    bool // its end has been read
	ended    bool
}

// boundBody wraps the request's body, if it has one. The caller calls release when the answer begins, and end before the
// handler returns.
func boundBody(w http.ResponseWriter, r *http.Request, timeout time.Duration, rate int) (*http.Request, *boundedBody) {
	expects := passExpectation(r)
	if r.Body == nil || r.Body == http.NoBody {
		return r, nil
	}
	body := &boundedBody{ReadCloser: r.Body, controller: http.NewResponseController(w), timeout: timeout, rate: rate, held: expects}
	body.idle.L = &body.mu
	out := *r
	out.Body = body
	return &out, body
}

// boundWait bounds the wait for 100 (Continue): the upstream is asked now. b may be nil.
func (b *boundedBody) boundWait() {
	if b != nil && b.held {
		b.silence = time.AfterFunc(upstream.ExpectPatience, b.pass)
	}
}

// pass lets the body go on. b may be nil.
func (b *boundedBody) pass() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = false
	b.idle.Broadcast()
}

// await waits while the body is held back. False: the body has ended.
func (b *boundedBody) await() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.held && !b.ended {
		b.idle.Wait()
	}
	return !b.ended
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if !b.await() || !b.begin() {
		return 0, errBodyOver
	}
	n, err := b.ReadCloser.Read(p)
	b.done(n, err)
	return n, err
}

// Close closes the server's body, which over HTTP/1.1 may read on to find its end.
func (b *boundedBody) Close() error {
	if !b.begin() {
		return nil
	}
	err := b.ReadCloser.Close()
	b.done(0, nil)
	return err
}

// begin says whether a call may still touch the body. If so, end waits until done is called.
func (b *boundedBody) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return false
	}
	b.calls++
	if !b.released {
		b.since = time.Now()
		_ = b.controller.SetReadDeadline(b.since.Add(b.patience()))
	}
	return true
}

// patience is how long the next read may take.
func (b *boundedBody) patience() time.Duration {
	worth := time.Duration(float64(b.got) / float64(b.rate) * float64(time.Second))
	return min(b.timeout, max(b.timeout+worth-b.waited, 0))
}

func (b *boundedBody) done(n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.released {
		b.got += int64(n)
		b.waited += time.Since(b.since)
	}
	b.calls--
	b.whole = b.whole || errors.Is(err, io.EOF)
	if err != nil && !b.ended {
		b.finish(errors.Is(err, os.ErrDeadlineExceeded))
	}
	b.idle.Broadcast()
}

// release ends the bounds on pauses and on the wait for 100, and says whether the body has been read to its end. b may be nil. A
// second call does no harm.
func (b *boundedBody) release() (whole bool) {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopWaiting()
	if !b.ended {
		b.finish(false)
	}
	return b.whole
}

// end lets go of the response writer and of the body: nobody may touch them once their handler has returned. b may be nil.
func (b *boundedBody) end() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.idle.Broadcast()
	b.stopWaiting()
	if !b.whole {
		// The deadline stays, so that the server does not look for the body's end either.
		_ = b.controller.SetReadDeadline(time.Unix(1, 0))
	}
	for b.calls > 0 {
		b.idle.Wait()
	}
}

func (b *boundedBody) stopWaiting() {
	if b.silence != nil {
		b.silence.Stop()
	}
}

func (b *boundedBody) finish(expired bool) {
	b.released = true
	b.expired = b.expired || expired
	// A deadline that has passed stays: otherwise, over HTTP/1.1, the server would wait for the rest of the body after the
	// answer. A deadline that has not passed would end the connection's next request.
	if !b.expired {
		_ = b.controller.SetReadDeadline(time.Time{})
	}
}
