package origin

import (
	"net/http"

	"adaptive-h3/infra/edge/internal/fields"
)

// asWorker makes of the origin's response what the worker passes on of it (testdata/field-lines.json).
func asWorker(res *http.Response) {
	fields.DropInvalid(res.Header)
	fields.Join(res.Header)
	// An origin's own offer names the origin's ports.
	res.Header.Del("Alt-Svc")
	if res.Request.Method == http.MethodHead {
		return // the length is of what a GET would get
	}
	switch res.StatusCode {
	case http.StatusNoContent, http.StatusNotModified:
		res.Header.Del("Content-Length")
	case http.StatusResetContent:
		// RFC 9110, section 15.3.6: it has no content, and says so.
		_ = res.Body.Close()
		res.Body, res.ContentLength = http.NoBody, 0
		res.Header.Set("Content-Length", "0")
	}
}
