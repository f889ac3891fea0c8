package origin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"adaptive-h3/infra/edge/internal/heartbeat"
	"adaptive-h3/infra/edge/internal/upstream"
)

// The headers that the origin gets are those that the worker sends it: the worker's tests read the same file.
func TestOriginRequests(t *testing.T) {
	var vectors struct {
		Origin string
		Cases  []struct {
			Name, Target, URL string
			Headers, Expected map[string]string
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "origin-requests.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	origin, err := Parse(vectors.Origin)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range vectors.Cases {
		t.Run(tc.Name, func(t *testing.T) {
			var got *http.Request
			f := &Fallback{origin: upstream.NewPool(dialRecorder(&got), nil), url: origin}
			req := httptest.NewRequest("GET", "http://upstream.test/", nil)
			upstream.PassTarget(req.URL, tc.Target)
			req.RequestURI = ""
			req.Header = http.Header{"Mf-Cf-Blob": {"{}"}}
			for name, value := range tc.Headers {
				req.Header.Set(name, value)
			}
			res, err := f.askOrigin(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			want, err := url.Parse(tc.URL)
			if err != nil {
				t.Fatal(err)
			}
			if got.Host != want.Host || got.RequestURI != want.RequestURI() {
				t.Errorf("%s %s, want %s", got.Host, got.RequestURI, tc.URL)
			}
			got.Header.Del("User-Agent") // net/http's own, where the visitor sent none
			for name, value := range tc.Expected {
				if got.Header.Get(name) != value {
					t.Errorf("%s: %q, want %q", name, got.Header.Get(name), value)
				}
			}
			if len(got.Header) != len(tc.Expected) {
				t.Errorf("%v, want %v", got.Header, tc.Expected)
			}
		})
	}
}

func TestWorkersOwnPaths(t *testing.T) {
	for _, target := range []string{
		"/_h3", "/_h3/", "/_h3/v1/activation", "/_H3/v1", "/x/../_h3/v1", "/x/%2e%2e/_h3/v1", "//_h3/v1", "/./_h3/v1", `/\_h3/v1`,
		"/%5fh3/v1", "/%255fh3/v1", "/_h3%2fv1", "/%zz/../_h3/v1", "/x%2f..%2f_h3/v1",
	} {
		u := &url.URL{}
		upstream.PassTarget(u, target)
		if u.Opaque == "" {
			u.Path, u.RawPath = target, target
		}
		if !workersOwn(u) {
			t.Errorf("%s goes to the origin", target)
		}
	}
	for _, target := range []string{"/", "/h3", "/_h3x", "/a/_h3", "/docs/_h3/v1", "/_h2/", "/%"} {
		u := &url.URL{}
		upstream.PassTarget(u, target)
		if workersOwn(u) {
			t.Errorf("%s does not go to the origin", target)
		}
	}
}

// What pages ask for by themselves is the worker's own, and yet no call of an operator's. Only its plain form is that.
func TestForPages(t *testing.T) {
	for target, want := range map[string]bool{
		"/_h3/v1/reporter.js": true, "/_h3/v1/report": true, "/_h3/v1/report?x": true,
		"/_h3/v1/reports": false, "/_h3/v1/activation": false, "/_H3/v1/report": false, "/x/../_h3/v1/report": false, "/_h3/v1/report/": false, "/": false,
	} {
		u := &url.URL{}
		upstream.PassTarget(u, target)
		if forPages(u) != want {
			t.Errorf("%s: %t", target, !want)
		}
		if want && !workersOwn(u) {
			t.Errorf("%s goes to the origin", target)
		}
	}
}

func TestParseOrigin(t *testing.T) {
	for _, s := range []string{"http://127.0.0.1:3000", "https://origin.example", "https://origin.example:8443/"} {
		if u, err := Parse(s); err != nil || u.Path != "" {
			t.Errorf("%s: %v, %v", s, u, err)
		}
	}
	for _, s := range []string{"", "origin.example", "ftp://a", "http://", "http://a/b", "http://a?b", "http://u@a", "unix:/a"} {
		if _, err := Parse(s); err == nil {
			t.Errorf("%s is taken", s)
		}
	}
}

// leavingVisitor is a worker that answers just when the visitor leaves.
type leavingVisitor struct{ leaves context.CancelFunc }

func (w leavingVisitor) RoundTrip(*http.Request) (*http.Response, error) {
	w.leaves()
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

// A RoundTripper that returns neither a response nor an error makes ReverseProxy panic.
func TestAnAnswerAsTheVisitorLeavesIsAnError(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		ctx, cancel := context.WithCancel(t.Context())
		beat := func(context.Context) error { return nil }
		f := &Fallback{worker: leavingVisitor{cancel}, monitor: heartbeat.New(beat, func(bool) {})}
		res, err := f.RoundTrip(httptest.NewRequestWithContext(ctx, method, "http://upstream.test/", nil))
		if res != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", method, res, err)
		}
	}
}

// dialRecorder gives connections to a server that keeps the request it gets.
func dialRecorder(got **http.Request) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			*got, _ = http.ReadRequest(bufio.NewReader(theirs))
			_, _ = io.WriteString(theirs, "HTTP/1.1 204 No Content\r\n\r\n")
		}()
		return ours, nil
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A worker that answers at the moment when it counts as gone: the answer is passed on whole, or is given up for the origin's.
func TestAnswerAsTheWorkerGoes(t *testing.T) {
	for range 500 { // what comes first is chance
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			monitor := heartbeat.New(func(context.Context) error { return errors.New("silent") }, func(bool) {})
			go monitor.Run(ctx)
			there := monitor.There()
			var asked context.Context
			f := &Fallback{monitor: monitor, worker: roundTripper(func(r *http.Request) (*http.Response, error) {
				asked = r.Context()
				<-there.Done()
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, nil
			})}
			_, again, err := f.askWorker(httptest.NewRequest("GET", "http://upstream.test/", nil))
			synctest.Wait()
			if err == nil && !again && asked.Err() != nil {
				t.Error("an answer that is passed on is cut off")
			}
		})
	}
}
