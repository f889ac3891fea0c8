package origin

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// neverReached says whether a request failed before anything of it was sent.
func neverReached(err error, body *heldBody) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && (body == nil || !body.touched.Load())
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// heldBody is a request body that stays open while nobody has read of it: the transport closes it also where it found no
// connection, and then the body is still wanted.
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
