package proxy

import (
	"bufio"
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
	body := begunBody{bufio.NewReaderSize(r.Body, 0), r.Body, make(chan struct{})}
	var err error
	begin := func() {
		defer close(body.begun)
		_, err = body.start.Peek(1)
	}
	var patience <-chan time.Time
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodDelete:
		begin()
	default:
		go begin()
		patience = time.After(endPatience)
	}
	out := *r
	out.Body = body
	select {
	case <-body.begun:
		if errors.Is(err, io.EOF) {
			out.Body, out.ContentLength = http.NoBody, 0
		}
	case <-patience:
	}
	return &out
}

// begunBody is a body whose first byte somebody is reading, or has read into start.
type begunBody struct {
	start *bufio.Reader
	io.Closer
	begun chan struct{} // closed once that is done
}

func (b begunBody) Read(p []byte) (int, error) {
	<-b.begun
	return b.start.Read(p)
}
