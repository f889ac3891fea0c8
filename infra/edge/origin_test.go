package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/origin"
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
	var ended atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if ended.Load() {
			panic(http.ErrAbortHandler)
		}
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
	// A connection that is taken meanwhile is not among those that are closed: its heartbeats must not go on.
	w.end = func() { once.Do(func() { ended.Store(true); s.Listener.Close(); s.CloseClientConnections() }) }
	t.Cleanup(func() { w.end(); s.Close() })
	return w
}

// startWithOrigin starts an edge before a worker and an origin, which says what it was asked.
func startWithOrigin(t *testing.T) (*testEdge, *testWorker, chan *http.Request) {
	t.Helper()
	asked := make(chan *http.Request, 100)
	origin := edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
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
		if status, text := e.text(c, "GET", "/", ""); status != 200 || text != "worker" {
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
				r := edgetest.Receive(t, "request at the origin", asked)
				if got, _ := io.ReadAll(r.Body); r.Method != method || r.RequestURI != "/a%2Fb?c=%20" || string(got) != body {
					t.Errorf("%s %s, %d bytes", r.Method, r.RequestURI, len(got))
				}
			}
			if status, text := e.text(c, "PUT", "/_h3/v1/activation", "{}"); status != 503 {
				t.Errorf("the worker's own: %d %s", status, text)
			}
			edgetest.Eventually(t, "the edge knows", func() bool { return strings.Contains(e.stderr.String(), "nobody decides") })
		}
		// A page's load event waits for the reporter. A call of the API would wait for two seconds.
		began := time.Now()
		status, text := e.text(c, "GET", "/_h3/v1/reporter.js", "")
		if took := time.Since(began); status != 503 || took > 1500*ms {
			t.Errorf("the reporter: %d %s, after %s", status, text, took)
		}
		if len(asked) > 0 {
			t.Errorf("the origin saw %s", (<-asked).RequestURI)
		}
	})
}

// The worker has a say in pages only: what may act, or has a body, never asks it, and so cannot be lost with it. A call of its API does.
func TestOnlyWhatMayBeAPageAsksTheWorker(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e, worker, asked := startWithOrigin(t)
		c := e.client(protocol)
		for _, tc := range []struct{ method, path, body, answer string }{
			{"GET", "/", "", "worker"},
			{"HEAD", "/", "", ""},
			{"GET", "/search", "body", "origin"},
			{"POST", "/", "body", "origin"},
			{"POST", "/", "", "origin"},
			{"PUT", "/a", strings.Repeat("body", 50_000), "origin"},
			{"DELETE", "/a", "", "origin"},
			{"OPTIONS", "/a", "", "origin"},
			{"M-SEARCH", "/a", "", "origin"},
			{"POST", "/_h3/v1/policies", "body", "worker"},
			{"PUT", "/x/%2e%2e/_h3/v1/activation", "", "worker"},
		} {
			seen := worker.seen.Load()
			if status, text := e.text(c, tc.method, tc.path, tc.body); status != 200 || text != tc.answer {
				t.Errorf("%s %s: %d %s", tc.method, tc.path, status, text)
			}
			if asksWorker := tc.answer != "origin"; (worker.seen.Load() > seen) != asksWorker {
				t.Errorf("%s %s: the worker saw it: %t", tc.method, tc.path, !asksWorker)
			}
			if tc.answer != "origin" {
				continue
			}
			r := edgetest.Receive(t, "request at the origin", asked)
			if got, _ := io.ReadAll(r.Body); r.Method != tc.method || r.RequestURI != tc.path || string(got) != tc.body || r.Header.Get("Mf-Cf-Blob") != "" {
				t.Errorf("%s %s, %d bytes, %v", r.Method, r.RequestURI, len(got), r.Header)
			}
		}
		if len(asked) > 0 {
			t.Errorf("the origin saw %s", (<-asked).RequestURI)
		}
	})
}

// A worker that is silent: a GET that waits goes to the origin when the heartbeat has failed for a second; a call of the API that may
// have reached it never does. Once it answers again it is asked again.
func TestWorkerSilent(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e, worker, asked := startWithOrigin(t)
		c := e.client(protocol)
		e.text(c, "GET", "/", "")
		worker.silent.Store(true)
		post := make(chan string, 1)
		go func() {
			status, text := e.text(e.client(protocol), "POST", "/_h3/v1/policies", "body")
			post <- fmt.Sprint(status, " ", text)
		}()
		edgetest.Eventually(t, "the POST is at the worker", func() bool { return worker.seen.Load() == 2 })
		if status, text := e.text(c, "GET", "/waits", ""); status != 200 || text != "origin" {
			t.Errorf("%d %s", status, text)
		}
		if r := edgetest.Receive(t, "request at the origin", asked); r.RequestURI != "/waits" {
			t.Errorf("the origin saw %s", r.RequestURI)
		}
		worker.silent.Store(false)
		close(worker.woken)
		if got := edgetest.Receive(t, "answer to the POST", post); got != "200 worker" {
			t.Errorf("the POST that the worker had: %s", got)
		}
		edgetest.Eventually(t, "the worker is asked again", func() bool {
			_, text := e.text(c, "GET", "/", "")
			return text == "worker"
		})
		edgetest.Eventually(t, "the log says that it answers again", func() bool { return strings.Contains(e.stderr.String(), "answers again") })
	})
}

// A worker that is busy for a moment still gets the calls of its API, also those that waited when it counted as gone.
func TestWorkerBusy(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e, worker, _ := startWithOrigin(t)
		e.text(e.client(protocol), "GET", "/", "")
		worker.silent.Store(true)
		answers := make(chan string, 2)
		call := func() {
			status, text := e.text(e.client(protocol), "GET", "/_h3/v1/health", "")
			answers <- fmt.Sprint(status, " ", text)
		}
		go call()
		edgetest.Eventually(t, "the edge knows", func() bool { return strings.Contains(e.stderr.String(), "nobody decides") })
		go call()
		worker.silent.Store(false)
		close(worker.woken)
		for range 2 {
			if got := edgetest.Receive(t, "answer", answers); got != "200 worker" {
				t.Error(got)
			}
		}
	})
}

// A worker that breaks off without an answer while it is there: a GET is asked again, of the origin; a call of the API is not.
func TestWorkerBreaksOff(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		origin := edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "origin") })
		worker := edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/heartbeat" {
				panic(http.ErrAbortHandler)
			}
		})
		e := startEdgeWith(t, worker, "-samples", worker, "-origin", origin)
		c := e.client(protocol)
		if status, text := e.text(c, "GET", "/", ""); status != 200 || text != "origin" {
			t.Errorf("GET: %d %s", status, text)
		}
		if status, text := e.text(c, "POST", "/_h3/v1/policies", "body"); status != 502 {
			t.Errorf("POST: %d %s", status, text)
		}
	})
}

// A worker that cannot reach the origin says so: a GET goes to the origin from here.
func TestWorkerDoesNotReachOrigin(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		asked := edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "origin") })
		worker := edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/heartbeat" {
				w.Header().Set(origin.UnreachedHeader, "1")
				w.WriteHeader(http.StatusBadGateway)
			}
			fmt.Fprint(w, "worker")
		})
		e := startEdgeWith(t, worker, "-samples", worker, "-origin", asked)
		c := e.client(protocol)
		if status, text := e.text(c, "GET", "/", ""); status != 200 || text != "origin" {
			t.Errorf("GET: %d %s", status, text)
		}
		if status, text := e.text(c, "GET", "/_h3/v1/health", ""); status != 503 {
			t.Errorf("the worker's own: %d %s", status, text)
		}
	})
}

// A page that is merely late is the worker's to answer.
func TestLatePageIsNoReason(t *testing.T) {
	origin := edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "origin") })
	worker := edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
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
	e := startEdgeWith(t, "http://"+edgetest.RefusingAddress(t), "-samples", "http://"+edgetest.RefusingAddress(t), "-origin", "http://"+edgetest.RefusingAddress(t))
	if status, text := e.text(e.client("HTTP/2"), "GET", "/", ""); status != 502 {
		t.Errorf("%d %s", status, text)
	}
	if said := e.stderr.String(); !strings.Contains(said, "upstream: the origin 127.0.0.1:") {
		t.Errorf("the log does not name the origin: %s", said)
	}
}

// A websocket is none of the worker's business, unless it asks for one of the worker's own paths.
func TestWebsocketGoesToTheOrigin(t *testing.T) {
	worker := startTestWorker(t)
	e := startEdgeWith(t, worker.url, "-origin", edgetest.StartUpstream(t, upgradeAndEcho), "-samples", worker.url)
	c := e.openWebsocket("/socket")
	message := []byte("hello")
	echo := make([]byte, len(message))
	if _, err := c.Write(message); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, echo); err != nil || string(echo) != string(message) || worker.seen.Load() != 0 {
		t.Errorf("%q, %v; the worker saw %d requests", echo, err, worker.seen.Load())
	}
	req, err := http.NewRequest(http.MethodGet, e.url("/_h3/v1/health"), nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "websocket")
	res, err := e.client("HTTP/1.1").Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if worker.seen.Load() != 1 {
		t.Errorf("%s; the worker saw %d requests", res.Status, worker.seen.Load())
	}
}
