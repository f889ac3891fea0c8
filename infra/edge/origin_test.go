package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// testWorker is a worker that can be silenced and ended: one HTTP server for visitors, with what only the internal
// listener has beside it.
type testWorker struct {
	url    string
	silent atomic.Bool
	woken  chan struct{}
	seen   atomic.Int64 // visitors' requests
	end    func()
}

func startTestWorker(t *testing.T) *testWorker {
	t.Helper()
	w := &testWorker{woken: make(chan struct{})}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/heartbeat" {
			w.seen.Add(1)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if w.silent.Load() {
			select {
			case <-w.woken:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = io.WriteString(rw, "worker")
	}))
	w.url = s.URL
	var once sync.Once
	w.end = func() { once.Do(func() { s.CloseClientConnections(); s.Listener.Close() }) }
	t.Cleanup(func() { w.end(); s.Close() })
	return w
}

// startWithOrigin starts an edge before a worker and an origin, which says what it was asked.
func startWithOrigin(t *testing.T) (*testEdge, *testWorker, chan *http.Request) {
	t.Helper()
	asked := make(chan *http.Request, 100)
	origin := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		asked <- r
		w.Header().Set("Alt-Svc", `h3=":1"; ma=86400`)
		fmt.Fprint(w, "origin")
	})
	worker := startTestWorker(t)
	e := startEdgeWith(t, worker.url, "-samples", worker.url, "-origin", origin)
	return e, worker, asked
}

// text is the body of a request's response; status 0 and the error where there was none.
func (e *testEdge) text(c *testClient, method, path, body string) (status int, text string) {
	e.t.Helper()
	req, err := http.NewRequest(method, e.url(path), strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	if body == "" {
		req.Body = http.NoBody
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	if got := res.Header.Values("Alt-Svc"); len(got) > 0 {
		e.t.Errorf("the origin's own offer passes: %q", got)
	}
	all, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(all)
}

// A worker that is not there any more: nothing of a request reached it, so each goes to the origin, whatever its method,
// from the first on; what is the worker's own does not.
func TestWorkerEnded(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e, worker, asked := startWithOrigin(t)
		c := e.client(protocol)
		if status, text := e.text(c, "POST", "/", "body"); status != 200 || text != "worker" {
			t.Fatalf("%d %s", status, text)
		}
		worker.end()
		for range 2 { // before it is known to be gone, and after
			for _, method := range []string{"GET", "HEAD", "POST", "DELETE"} {
				body := map[string]string{"POST": strings.Repeat("body", 50_000)}[method]
				status, text := e.text(c, method, "/a%2Fb?c=%20", body)
				if status != 200 || (method != "HEAD" && text != "origin") {
					t.Errorf("%s: %d %s", method, status, text)
				}
				r := receive(t, "request at the origin", asked)
				if got, _ := io.ReadAll(r.Body); r.Method != method || r.RequestURI != "/a%2Fb?c=%20" || string(got) != body {
					t.Errorf("%s %s, %d bytes", r.Method, r.RequestURI, len(got))
				}
			}
			if status, text := e.text(c, "PUT", "/_h3/v1/activation", "{}"); status != 503 {
				t.Errorf("the worker's own: %d %s", status, text)
			}
			eventually(t, "the edge knows", func() bool { return strings.Contains(e.stderr.String(), "nobody decides") })
		}
		if len(asked) > 0 {
			t.Errorf("the origin saw %s", (<-asked).RequestURI)
		}
	})
}

// A worker that is silent: a GET that waits goes to the origin when the heartbeat has failed for a second; a POST that may
// have reached it never does. Once it answers again it is asked again.
func TestWorkerSilent(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e, worker, asked := startWithOrigin(t)
		c := e.client(protocol)
		e.text(c, "GET", "/", "")
		worker.silent.Store(true)
		post := make(chan string, 1)
		go func() {
			status, text := e.text(e.client(protocol), "POST", "/", "body")
			post <- fmt.Sprint(status, " ", text)
		}()
		eventually(t, "the POST is at the worker", func() bool { return worker.seen.Load() == 2 })
		if status, text := e.text(c, "GET", "/waits", ""); status != 200 || text != "origin" {
			t.Errorf("%d %s", status, text)
		}
		if r := receive(t, "request at the origin", asked); r.RequestURI != "/waits" {
			t.Errorf("the origin saw %s", r.RequestURI)
		}
		if status, text := e.text(c, "POST", "/new", "body"); status != 200 || text != "origin" {
			t.Errorf("a POST while it is known to be gone: %d %s", status, text)
		}
		worker.silent.Store(false)
		close(worker.woken)
		if got := receive(t, "answer to the POST", post); got != "200 worker" {
			t.Errorf("the POST that the worker had: %s", got)
		}
		eventually(t, "the worker is asked again", func() bool {
			_, text := e.text(c, "GET", "/", "")
			return text == "worker"
		})
		if !strings.Contains(e.stderr.String(), "answers again") {
			t.Errorf("said: %s", e.stderr)
		}
	})
}

// A worker that breaks off without an answer while it is there: a GET is asked again, of the origin; a POST is not.
func TestWorkerBreaksOff(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		origin := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "origin") })
		worker := startUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/heartbeat" {
				panic(http.ErrAbortHandler)
			}
		})
		e := startEdgeWith(t, worker, "-samples", worker, "-origin", origin)
		c := e.client(protocol)
		if status, text := e.text(c, "GET", "/", ""); status != 200 || text != "origin" {
			t.Errorf("GET: %d %s", status, text)
		}
		if status, text := e.text(c, "POST", "/", "body"); status != 502 {
			t.Errorf("POST: %d %s", status, text)
		}
	})
}

// A page that is merely late is the worker's to answer.
func TestLatePageIsNoReason(t *testing.T) {
	origin := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "origin") })
	worker := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/heartbeat" {
			time.Sleep(2 * time.Second) // twice what the heartbeat may take: that is the case
		}
		fmt.Fprint(w, "worker")
	})
	e := startEdgeWith(t, worker, "-samples", worker, "-origin", origin)
	if status, text := e.text(e.client("HTTP/2"), "GET", "/", ""); status != 200 || text != "worker" {
		t.Errorf("%d %s", status, text)
	}
}

func TestBothGone(t *testing.T) {
	e := startEdgeWith(t, "http://"+refusingAddress(t), "-samples", "http://"+refusingAddress(t), "-origin", "http://"+refusingAddress(t))
	if status, text := e.text(e.client("HTTP/2"), "GET", "/", ""); status != 502 {
		t.Errorf("%d %s", status, text)
	}
}

// The headers that the origin gets are those that the worker sends it: the worker's tests read the same file.
func TestOriginRequests(t *testing.T) {
	var vectors struct {
		Origin string
		Cases  []struct {
			Name, Target, URL string
			Headers, Expected map[string]string
		}
	}
	text, err := os.ReadFile(filepath.Join("testdata", "origin-requests.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	origin, err := parseOrigin(vectors.Origin)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range vectors.Cases {
		t.Run(tc.Name, func(t *testing.T) {
			var got *http.Request
			transport := &http.Transport{DialContext: dialRecorder(&got), DisableCompression: true}
			f := &originFallback{origin: transport, url: origin}
			req := httptest.NewRequest("GET", "http://upstream.test/", nil)
			passTarget(req.URL, tc.Target)
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
		passTarget(u, target)
		if u.Opaque == "" {
			u.Path, u.RawPath = target, target
		}
		if !workersOwn(u) {
			t.Errorf("%s goes to the origin", target)
		}
	}
	for _, target := range []string{"/", "/h3", "/_h3x", "/a/_h3", "/docs/_h3/v1", "/_h2/", "/%"} {
		u := &url.URL{}
		passTarget(u, target)
		if workersOwn(u) {
			t.Errorf("%s does not go to the origin", target)
		}
	}
}

func TestParseOrigin(t *testing.T) {
	for _, s := range []string{"http://127.0.0.1:3000", "https://origin.example", "https://origin.example:8443/"} {
		if u, err := parseOrigin(s); err != nil || u.Path != "" {
			t.Errorf("%s: %v, %v", s, u, err)
		}
	}
	for _, s := range []string{"", "origin.example", "ftp://a", "http://", "http://a/b", "http://a?b", "http://u@a", "unix:/a"} {
		if _, err := parseOrigin(s); err == nil {
			t.Errorf("%s is taken", s)
		}
	}
	if _, err := parseOptions([]string{"-upstream", "unix:/a", "-origin", "http://a"}, io.Discard); err == nil || !strings.Contains(err.Error(), "-samples") {
		t.Errorf("without -samples: %v", err)
	}
}

func TestNeverReached(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("refused")}
	if !neverReached(refused, nil) || !neverReached(fmt.Errorf("x: %w", refused), &heldBody{}) {
		t.Error("a dial that failed reached nobody")
	}
	touched := &heldBody{ReadCloser: http.NoBody}
	_, _ = touched.Read(nil)
	if neverReached(refused, touched) || neverReached(&net.OpError{Op: "write", Err: errors.New("broken")}, nil) || neverReached(io.EOF, nil) {
		t.Error("it may have reached the worker")
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
