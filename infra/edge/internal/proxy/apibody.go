package proxy

import (
	"fmt"
	"net/http"
	"strings"

	"adaptive-h3/infra/edge/internal/origin"
)

// apiBodyMax is the most bytes of a body that the worker's API takes. The worker refuses more by itself, and then does not
// read the rest: this program bounds the body before it gets there, so that the answer always arrives whole.
const apiBodyMax = 262_144

// boundAPIBody bounds the body of a request to the API, whose reads then fail with *http.MaxBytesError. False: the request says itself
// that its body is too large.
func boundAPIBody(w http.ResponseWriter, r *http.Request) bool {
	if r.Body == nil || r.Body == http.NoBody || !strings.HasPrefix(r.URL.Path, origin.OwnPrefix+"/") {
		return true
	}
	r.Body = http.MaxBytesReader(w, r.Body, apiBodyMax)
	return r.ContentLength <= apiBodyMax
}

// writeAPIBodyTooLarge answers as the API does, with problem details (RFC 9457).
func writeAPIBodyTooLarge(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusRequestEntityTooLarge)
	_, _ = fmt.Fprintf(w, `{"type":"about:blank","status":413,"detail":"a body may have %d bytes"}`, apiBodyMax)
}
