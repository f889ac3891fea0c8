package pathsample

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/upstream"
)

func numbered(n int) connpath.Sample {
	return connpath.Sample{ClientAddress: netip.MustParseAddr("192.0.2.7"), AtMs: int64(n)}
}

func mustTarget(t *testing.T, s string) upstream.Target {
	t.Helper()
	to, err := upstream.ParseTarget(s)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// start runs a poster. Its end sends what is queued.
func start(t *testing.T, p *Poster) (end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	return func() {
		t.Helper()
		stop()
		edgetest.Receive(t, "end", done)
	}
}

// What queues up while a post is under way goes as one batch, of at most 100, in order.
func TestPosterBatches(t *testing.T) {
	batches := make(chan []int, 10)
	answer := make(chan struct{})
	url := edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ Samples []struct{ AtMs int } }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		var numbers []int
		for _, s := range body.Samples {
			numbers = append(numbers, s.AtMs)
		}
		batches <- numbers
		<-answer
	})
	log := &edgetest.Buffer{}
	p := NewPoster(mustTarget(t, url), errorlog.New(log))
	end := start(t, p)
	p.Emit(numbered(0))
	if b := edgetest.Receive(t, "first batch", batches); len(b) != 1 {
		t.Fatalf("%v", b)
	}
	for n := 1; n <= 250; n++ {
		p.Emit(numbered(n))
	}
	close(answer)
	next := 1
	for _, want := range []int{100, 100, 50} {
		b := edgetest.Receive(t, "batch", batches)
		if len(b) != want {
			t.Fatalf("a batch of %d, want %d", len(b), want)
		}
		for _, n := range b {
			if n != next {
				t.Fatalf("%d, want %d", n, next)
			}
			next++
		}
	}
	end()
	p.Emit(numbered(0)) // after the end: nothing happens
	if log.String() != "" {
		t.Error(log)
	}
}

func TestPosterOverflowDropsTheOldest(t *testing.T) {
	p := NewPoster(upstream.Target{Network: "tcp", Address: "127.0.0.1:1"}, errorlog.New(&edgetest.Buffer{}))
	for n := range maxQueue + 10 {
		p.Emit(numbered(n))
	}
	if first := <-p.queue; p.dropped.Load() != 10 || first.AtMs != 10 || len(p.queue) != maxQueue-1 {
		t.Fatalf("%d dropped, first %d, %d left", p.dropped.Load(), first.AtMs, len(p.queue))
	}
}

func TestPosterFailures(t *testing.T) {
	refusing := edgetest.RefusingAddress(t)
	cases := []struct{ name, to, says string }{
		{"refusing", "http://" + refusing, "connection refused"},
		{"no such socket", "unix:" + filepath.Join(t.TempDir(), "none"), "no such socket"},
		{"failing", edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}), "status 503"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			log := &edgetest.Buffer{}
			p := NewPoster(mustTarget(t, tc.to), errorlog.New(log))
			end := start(t, p)
			for n := range 3 {
				p.Emit(numbered(n))
			}
			end()
			if p.failed != 3 {
				t.Errorf("%d counted", p.failed)
			}
			if s := log.String(); strings.Count(s, "\n") != 1 || !strings.Contains(s, tc.says) || strings.Contains(s, "192.0.2.7") {
				t.Errorf("stderr: %q", s)
			}
		})
	}
}

// A listener that does not answer holds neither visitors nor the end of the program.
func TestPosterStops(t *testing.T) {
	release := make(chan struct{})
	arrived := make(chan struct{}, 10)
	url := edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-release })
	t.Cleanup(func() { close(release) })
	p := NewPoster(mustTarget(t, url), errorlog.New(&edgetest.Buffer{}))
	end := start(t, p)
	for n := range maxBatch + 2 {
		p.Emit(numbered(n))
	}
	edgetest.Receive(t, "post", arrived)
	end() // flushTimeout after it was asked for
}

func TestPosterOverUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.sock")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	s := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got <- fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("Content-Type"))
	})}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
	p := NewPoster(mustTarget(t, "unix:"+path), errorlog.New(&edgetest.Buffer{}))
	end := start(t, p)
	p.Emit(numbered(1))
	if g := edgetest.Receive(t, "post", got); g != "POST /samples application/json" {
		t.Error(g)
	}
	end()
}
