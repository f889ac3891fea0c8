package proxy

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// endPatience is how long a request that may have a body waits for its first byte or its end: a packet may be lost, and comes again
// after some round trips. Meanwhile the upstream has no header, so it is short for visitors who send their body later.
const endPatience = 100 * time.Millisecond

// withoutEmptyBody takes the body away from a request whose body turns out to be empty, so that the upstream gets the same request by
// whichever protocol. The servers of HTTP/2 and HTTP/3 may know only at the end of the stream whether there is a body; HTTP/3's always. A
// request with a body goes out chunked, and nobody can send it again when a connection of the pool turns out to be closed. For
// methods that have no body in practice the function waits as long as a body may pause, and not at all for visitors who themselves
// wait before they send one.
func withoutEmptyBody(r *http.Request) *http.Request {
	if r.ContentLength >= 0 || r.Body == nil || r.Header.Get("Expect") != "" {
		return r
	}
	body := &begunBody{ReadCloser: r.Body, begun: make(chan struct{})}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodDelete:
		body.begin()
	default:
		go body.begin()
		patience := time.NewTimer(endPatience)
		defer patience.Stop()
		select {
		case <-body.begun:
		case <-patience.C:
		}
	}
	out := *r
	out.Body = body
	if body.isEmpty() {
		out.Body, out.ContentLength = http.NoBody, 0
	}
	return &out
}

// begunBody is a body whose first byte somebody is reading, or has read.
type begunBody struct {
	io.ReadCloser
	begun chan struct{} // closed once the fields below are there
	first [1]byte
	n     int
	err   error
}

func (b *begunBody) begin() {
	defer close(b.begun)
	b.n, b.err = io.ReadFull(b.ReadCloser, b.first[:])
}

// isEmpty says whether the body has turned out to be empty.
func (b *begunBody) isEmpty() bool {
	select {
	case <-b.begun:
		return errors.Is(b.err, io.EOF)
	default:
		return false
	}
}

func (b *begunBody) Read(p []byte) (int, error) {
	<-b.begun
	if b.n > 0 {
		n := copy(p, b.first[:])
		b.n -= n
		return n, nil
	}
	if b.err != nil {
		return 0, b.err
	}
	return b.ReadCloser.Read(p)
}
