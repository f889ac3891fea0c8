package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

// boundedBody bounds the pauses in a visitor's request body while the upstream has not begun to answer. Without a bound
// a visitor who waits for an answer before sending more would wait for ever when the upstream dies: net/http's transport
// tells of that only once the body's read has returned. From the response's header on the stream may pause as it likes.
type boundedBody struct {
	io.ReadCloser
	controller *http.ResponseController
	timeout    time.Duration

	mu       sync.Mutex
	released bool
	expired  bool
	ended    bool
}

// boundBody wraps the request's body, if it has one; release must be called when the answer begins, and end before the
// handler returns.
func boundBody(w http.ResponseWriter, r *http.Request, timeout time.Duration) (*http.Request, *boundedBody) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, nil
	}
	body := &boundedBody{ReadCloser: r.Body, controller: http.NewResponseController(w), timeout: timeout}
	out := *r
	out.Body = body
	return &out, body
}

func (b *boundedBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	if !b.released {
		_ = b.controller.SetReadDeadline(time.Now().Add(b.timeout))
	}
	b.mu.Unlock()
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.finish(errors.Is(err, os.ErrDeadlineExceeded))
	}
	return n, err
}

// release ends the bound. It may be called on nil, and more than once.
func (b *boundedBody) release() {
	if b != nil {
		b.finish(false)
	}
}

// end lets go of the response writer, which must not be touched once its handler has returned: the transport may still
// be reading then. It may be called on nil.
func (b *boundedBody) end() {
	if b == nil {
		return
	}
	b.finish(false)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
}

func (b *boundedBody) finish(expired bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	b.released = true
	b.expired = b.expired || expired
	// A deadline that has passed stays: over HTTP/1.1 the server would otherwise wait for the rest of the body after the
	// answer. One that has not would end the connection's next request.
	if !b.expired {
		_ = b.controller.SetReadDeadline(time.Time{})
	}
}
