package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/upstream"
)

// Whether a server guesses a type depends on what it has of the body when the header goes out; an entry without a value
// keeps all of them from it (http.ResponseWriter says so of Date; net/http and http3 look for the entry).
func TestResponseWriterKeepsServersFromGuessing(t *testing.T) {
	options := patientOptions(upstream.Target{})
	for _, given := range []string{"", "text/css"} {
		var sent http.Header
		request, body := boundBody(nil, httptest.NewRequest(http.MethodGet, "/", nil), &options)
		w := &responseWriter{
			ResponseWriter: headerFunc(func(_ int, h http.Header) { sent = h.Clone() }),
			handler:        &Handler{options: options}, request: request, body: body,
		}
		if given != "" {
			w.Header().Set("Content-Type", given)
		}
		io.WriteString(w, "<!doctype html>")
		if _, ok := sent["Content-Type"]; !ok || sent.Get("Content-Type") != given {
			t.Errorf("given %q: %v", given, sent)
		}
	}
}

// Early hints pass before the final header, without an offer where HTTP/3 is not served.
func TestResponseWriterInformational(t *testing.T) {
	options := patientOptions(upstream.Target{})
	options.ServerTiming = false // this connection cannot be read
	for sent, want := range map[string]string{"clear": "clear", `h3=":443"`: ""} {
		var early http.Header
		request, body := boundBody(nil, httptest.NewRequest(http.MethodGet, "/", nil), &options)
		w := &responseWriter{
			ResponseWriter: headerFunc(func(status int, h http.Header) {
				if status == http.StatusEarlyHints {
					early = h.Clone()
				}
			}),
			handler: &Handler{options: options}, conn: &connpath.Connection{Serves: new(atomic.Bool)}, request: request, body: body,
		}
		w.Header().Set("Alt-Svc", sent)
		w.WriteHeader(http.StatusEarlyHints)
		if early.Get("Alt-Svc") != want || w.done {
			t.Errorf("%s: %v", sent, early)
		}
		w.WriteHeader(http.StatusOK)
		w.WriteHeader(http.StatusTeapot)
		if !w.done {
			t.Error("the final header is not out")
		}
	}
}

// headerFunc is a ResponseWriter that tells what headers are written.
func headerFunc(f func(status int, h http.Header)) http.ResponseWriter {
	return &headerWriter{http.Header{}, f}
}

type headerWriter struct {
	h http.Header
	f func(status int, h http.Header)
}

func (w *headerWriter) Header() http.Header         { return w.h }
func (w *headerWriter) WriteHeader(status int)      { w.f(status, w.h) }
func (w *headerWriter) Write(p []byte) (int, error) { return len(p), nil }
