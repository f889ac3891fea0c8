package proxy

import (
	"errors"
	"io"
	"net/http"
)

// withoutEmptyBody takes the body away from a request whose body turns out to be empty. HTTP/3's server knows only at the
// end of the stream whether there is a body. A request with a body goes out chunked, and nobody can send it again when a
// connection of the pool turns out to be closed. The function waits only for methods that have no body in practice.
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

// resumedBody is a body whose first byte somebody has read already.
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
