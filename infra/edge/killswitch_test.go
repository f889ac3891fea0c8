package main

import (
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// The worker says with its heartbeat that it could not store a kill switch. From then on every response takes offers back,
// also while the worker is gone, and a worker that was started since is told.
func TestKillSwitchThatTheWorkerCouldNotStore(t *testing.T) {
	var says, told, http3 atomic.Value
	says.Store("")
	told.Store("")
	http3.Store("")
	var silent atomic.Bool
	worker := edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if silent.Load() {
			// The server sees that a client has gone once its request's body is read: a path sample has one.
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		if r.URL.Path == "/heartbeat" {
			told.Store(r.Header.Get("Adaptive-H3-Kill"))
			http3.Store(r.Header.Get("Adaptive-H3-Http3"))
			if says.Load() != "" {
				w.Header().Set("Adaptive-H3-Kill", says.Load().(string))
			}
			return
		}
		w.Header().Set("Alt-Svc", `h3=":1"; ma=60`)
		w.WriteHeader(http.StatusEarlyHints)
		fmt.Fprint(w, "worker")
	})
	origin := edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Alt-Svc", `h3=":1"; ma=60`)
		fmt.Fprint(w, "origin")
	})
	e := startEdgeWith(t, worker, "-samples", worker, "-origin", origin)
	altSvc := func(protocol string) string {
		res, body := e.get(e.client(protocol), "/")
		return string(body) + " " + res.Header.Get("Alt-Svc")
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(edgetest.Patience); !holds(); time.Sleep(10 * ms) {
			if time.Now().After(end) {
				t.Fatalf("%s: never", what)
			}
		}
	}
	all := func(want string) {
		t.Helper()
		for _, protocol := range protocols {
			if got := altSvc(protocol); got != want {
				t.Errorf("%s: %q, want %q", protocol, got, want)
			}
		}
	}
	until("a heartbeat", func() bool { return http3.Load() == "ok" })
	all(`worker h3=":1"; ma=60`)

	says.Store("fixed-h2 a")
	until("the switch", func() bool { return altSvc("HTTP/2") == "worker clear" })
	all("worker clear")

	silent.Store(true)
	until("the worker is gone", func() bool { return altSvc("HTTP/2") == "origin clear" })
	all("origin clear")

	// It begins again, and knows of nothing.
	says.Store("")
	silent.Store(false)
	until("the new worker is told", func() bool { return told.Load() == "fixed-h2 a" })
	until("the worker is back", func() bool { return altSvc("HTTP/2") == "worker clear" })

	says.Store("off")
	until("the switch is off", func() bool { return altSvc("HTTP/2") == `worker h3=":1"; ma=60` })
	all(`worker h3=":1"; ma=60`)
	until("nothing is told", func() bool { return told.Load() == "" })
}

func TestWhatTheWorkerHearsAboutHTTP3(t *testing.T) {
	flag := func(serves bool) *server {
		s := &server{serves: new(atomic.Bool)}
		s.serves.Store(serves)
		return s
	}
	for _, tc := range []struct {
		servers []*server
		want    string
	}{
		{nil, "off"},
		{[]*server{{}}, "off"},
		{[]*server{{}, flag(true)}, "ok"},
		{[]*server{flag(true), flag(false)}, "down"},
	} {
		if got := (&edge{servers: tc.servers}).http3(); got != tc.want {
			t.Errorf("%d servers: %s, want %s", len(tc.servers), got, tc.want)
		}
	}
}
