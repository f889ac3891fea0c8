package proxy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"adaptive-h3/infra/edge/internal/origin"
)

// apiBodyMax is the most bytes of a body that the worker's API takes. The worker refuses more by itself, and then does not
// read the rest: this program bounds the body before it gets there, so that the answer always arrives whole.
const apiBodyMax = 262_144

var errAPIBodyTooLarge = errors.New("the body is larger than the API takes")

// boundAPIBody bounds the body of a request to the API. False: the request says itself that its body is too large.
func boundAPIBody(r *http.Request) bool {
	if r.Body == nil || r.Body == http.NoBody || !strings.HasPrefix(r.URL.Path, origin.OwnPrefix+"/") {
		return true
	}
	r.Body = &apiBody{ReadCloser: r.Body, left: apiBodyMax}
	return r.ContentLength <= apiBodyMax
}

// apiBody fails with errAPIBodyTooLarge once there are more bytes than left.
type apiBody struct {
	io.ReadCloser
	left int
}

func (b *apiBody) Read(p []byte) (int, error) {
	// One byte more than is left tells a body that ends here from one that goes on.
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if n > b.left {
		return 0, errAPIBodyTooLarge
	}
	b.left -= n
	return n, err
}

// writeAPIBodyTooLarge answers as the API does, with problem details (RFC 9457).
func writeAPIBodyTooLarge(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusRequestEntityTooLarge)
	_, _ = fmt.Fprintf(w, `{"type":"about:blank","title":"Content Too Large","status":413,"detail":"a body may have %d bytes"}`, apiBodyMax)
}
