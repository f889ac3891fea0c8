package proxy

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

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

// Firefox is offered HTTP/3 with a page's first file, and everybody else with the page.
func TestHoldOffer(t *testing.T) {
	const (
		offer, other = `h3=":443"; ma=60`, `h3=":443"; ma=86400`
		firefox      = "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0"
		chromium     = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36"
	)
	type response struct {
		host, dest, has, wants string
		after                  time.Duration // the one before
		status                 int           // 0: 200
	}
	page := response{host: "a.test", dest: "document", has: offer}
	for _, test := range []struct {
		name, agent string
		responses   []response
	}{
		{"with the first file, once", firefox, []response{page, {"a.test", "style", "", offer, 0, 0}, {"a.test", "image", "", "", 0, 0}}},
		{"another browser", chromium, []response{{"a.test", "document", offer, offer, 0, 0}, {"a.test", "style", "", "", 0, 0}}},
		{"a file of another host between them", firefox, []response{page, {"b.test", "style", "", "", 0, 0}, {"a.test", "image", "", offer, 0, 0}}},
		{"a file that has an answer of its own", firefox, []response{page, {"a.test", "style", "clear", "clear", 0, 0}, {"a.test", "image", "", "", 0, 0}}},
		{"no file but the next page", firefox, []response{page, {"a.test", "document", other, other, 0, 0}, {"a.test", "style", "", "", 0, 0}}},
		{"the next page takes it back", firefox, []response{page, {"a.test", "document", "clear", "clear", 0, 0}, {"a.test", "style", "", "", 0, 0}}},
		{"the next page says nothing", firefox, []response{page, {"a.test", "document", "", "", 0, 0}, {"a.test", "style", "", "", 0, 0}}},
		{"the next page is of another host", firefox, []response{page, {"b.test", "document", other, "", 0, 0}, {"a.test", "style", "", "", 0, 0}, {"b.test", "style", "", other, 0, 0}}},
		{"a file much later, and the next page", firefox, []response{page, {"a.test", "style", "", "", offerHeld, 0}, {"a.test", "document", other, other, 0, 0}}},
		{"a page that leads on", firefox, []response{{"a.test", "document", offer, "", 0, 302}, {"a.test", "document", other, "", 0, 0}, {"a.test", "style", "", other, 0, 0}}},
		{"a page that the browser has", firefox, []response{{"a.test", "document", offer, "", 0, 304}, {"a.test", "document", other, other, 0, 0}}},
		{"a page that leads on to one that takes it back", firefox, []response{{"a.test", "document", offer, "", 0, 302}, {"a.test", "document", "clear", "clear", 0, 0}, {"a.test", "style", "", "", 0, 0}}},
		{"a file's own offer", firefox, []response{{"a.test", "style", offer, offer, 0, 0}}},
		{"taken back at once", firefox, []response{{"a.test", "document", "clear", "clear", 0, 0}, {"a.test", "style", "", "", 0, 0}}},
	} {
		c, now := &connpath.Connection{Transport: connpath.TCP}, time.UnixMilli(1_000_000)
		for i, each := range test.responses {
			r := httptest.NewRequest(http.MethodGet, "https://"+each.host+"/", nil)
			r.Header.Set("Sec-Fetch-Dest", each.dest)
			r.Header.Set("User-Agent", test.agent)
			h := http.Header{}
			if each.has != "" {
				h.Set("Alt-Svc", each.has)
			}
			now = now.Add(each.after)
			holdOffer(h, cmp.Or(each.status, http.StatusOK), r, c, now)
			if got := h.Get("Alt-Svc"); got != each.wants {
				t.Errorf("%s: response %d says %q, not %q", test.name, i+1, got, each.wants)
			}
		}
	}
}
