package origin

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// neverReached says whether a request failed before any part of it was sent.
func neverReached(err error, body *heldBody) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && (body == nil || !body.touched.Load())
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// heldBody is a request body that stays open until somebody has read from it. The transport closes a body even where it
// found no connection, and then the origin still needs the body.
type heldBody struct {
	io.ReadCloser
	touched atomic.Bool
}

func (b *heldBody) Read(p []byte) (int, error) {
	b.touched.Store(true)
	return b.ReadCloser.Read(p)
}

func (b *heldBody) Close() error {
	if !b.touched.Load() {
		return nil
	}
	return b.ReadCloser.Close()
}
