package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/origin"
	"adaptive-h3/infra/edge/internal/quicprobe"
	"adaptive-h3/infra/edge/internal/upstream"
)

const (
	// How long a handshake with oneself may take on a busy machine.
	healthTimeout = 2 * time.Second
	// Whoever asks more often gets what was found then.
	healthKept = time.Second
)

// health is the answer of GET /health: 200 where ok, 503 where not.
type health struct {
	OK       bool         `json:"ok"`
	Problems []string     `json:"problems"` // a sentence each; empty where ok
	HTTP3    []healthQUIC `json:"http3"`
	Worker   healthWorker `json:"worker"`
	Requests healthDesk   `json:"requests"`
}

// healthQUIC is one address that HTTP/3 is served on.
type healthQUIC struct {
	Address     string  `json:"address"`
	OK          bool    `json:"ok"` // a handshake with it succeeded
	HandshakeMs float64 `json:"handshakeMs,omitempty"`
}

// healthWorker is what the heartbeat says.
type healthWorker struct {
	Watched bool `json:"watched"` // with -origin
	OK      bool `json:"ok"`
}

// healthDesk is how full it is.
type healthDesk struct {
	InFlight  int    `json:"inFlight"`
	Waiting   int    `json:"waiting"`
	Refused   uint64 `json:"refused"` // since the start
	Total     int    `json:"maxRequests"`
	PerClient int    `json:"maxRequestsClient"`
}

// healthServer answers GET /health on a listener of its own, which visitors cannot reach.
type healthServer struct {
	e        *edge
	leaf     *x509.Certificate
	fallback *origin.Fallback // nil: nobody watches the worker
	http     *http.Server

	mu    sync.Mutex
	last  health
	until time.Time // last is good until then
}

// startHealth serves t, if it is any.
func (e *edge) startHealth(t upstream.Target, leaf *x509.Certificate, fallback *origin.Fallback) error {
	if t == (upstream.Target{}) {
		return nil
	}
	if t.Network == "unix" {
		// What an edge that was killed left behind keeps the next from binding.
		if err := os.Remove(t.Address); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("flag -health: %w", err)
		}
	}
	ln, err := net.Listen(t.Network, t.Address)
	if err != nil {
		return fmt.Errorf("flag -health: %w", err)
	}
	h := &healthServer{e: e, leaf: leaf, fallback: fallback}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", h.serve)
	h.http = &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ErrorLog: e.log.Logger("health")}
	e.health = h.http
	go func() {
		if err := h.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			e.log.Report("health", err.Error())
		}
	}()
	return nil
}

func (h *healthServer) serve(w http.ResponseWriter, _ *http.Request) {
	now := h.look()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !now.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(now)
}

// look finds out how the edge is, one asker at a time.
func (h *healthServer) look() health {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Now().Before(h.until) {
		return h.last
	}
	now := health{Problems: []string{}, HTTP3: []healthQUIC{}, Worker: healthWorker{OK: true}}
	for _, s := range h.e.servers {
		if s.quic == nil {
			continue
		}
		q, err := h.handshake(s)
		if err != nil {
			now.Problems = append(now.Problems, fmt.Sprintf("HTTP/3 on %s: %v", q.Address, err))
		}
		now.HTTP3 = append(now.HTTP3, q)
	}
	if h.fallback != nil {
		now.Worker = healthWorker{Watched: true, OK: !h.fallback.WorkerGone()}
	}
	if !now.Worker.OK {
		now.Problems = append(now.Problems, "the worker does not answer: the origin is asked instead, and nobody decides")
	}
	desk := h.e.desk
	limits := desk.Limits()
	now.Requests = healthDesk{Total: limits.Total, PerClient: limits.PerClient}
	now.Requests.InFlight, now.Requests.Waiting, now.Requests.Refused = desk.Counts()
	now.OK = len(now.Problems) == 0
	h.last, h.until = now, time.Now().Add(healthKept)
	return now
}

func (h *healthServer) handshake(s *server) (healthQUIC, error) {
	ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
	defer cancel()
	took, err := quicprobe.Handshake(ctx, s.quic.ReachedAt(), h.leaf)
	if err == nil && !s.serves.Load() {
		err = errors.New("it is not offered yet")
	}
	return healthQUIC{Address: s.quic.Address(), OK: err == nil, HandshakeMs: measure.Milliseconds(took)}, err
}
