// Package health answers GET /health on a listener of its own, which visitors cannot reach. It asks the edge's servers as a
// client would. Of this module it imports admission, certificate, errorlog, ownsocket, quicprobe and upstream.
package health

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/certificate"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/ownsocket"
	"adaptive-h3/infra/edge/internal/upstream"
)

const (
	// How long everything that is asked may take on a busy machine.
	handshakeTimeout = 2 * time.Second
	// An answer is good for this long; nobody looks again before.
	kept = time.Second
	// How long a client may take to send its request's header.
	readHeaderTimeout = 15 * time.Second
)

// Subject is what the answer is about.
type Subject struct {
	TCP          []TCP   // the addresses that are served
	HTTP3        []HTTP3 // those that HTTP/3 is served on
	Certificates *certificate.Set
	WorkerGone   func() bool // nil: nobody watches the worker
	Origin       Origin      // nil: the edge never asks the origin
	Desk         *admission.Desk
	// Descriptors returns how many the process behind has open, and how many it may have; 0 where nobody can tell.
	Descriptors func() (open, limit int)
}

// Origin is the way to the origin that needs no worker.
type Origin interface {
	Problems(context.Context) []string // a sentence each
	Requests() uint64                  // that went this way since the start
}

// TCP is one address that is served over TCP.
type TCP struct {
	Address   string                // as it was announced
	ReachedAt func() netip.AddrPort // where this machine reaches it now
}

// HTTP3 is one address that HTTP/3 is served on.
type HTTP3 struct {
	Address   string                // as it was announced
	ReachedAt func() netip.AddrPort // where this machine reaches it now
	Serves    *atomic.Bool          // whether it is offered
	Warning   func() string         // what could be better; "": nothing
}

// Answer is the body of the answer, as JSON: status 200 where OK, 503 where not.
type Answer struct {
	OK       bool     `json:"ok"`
	Problems []string `json:"problems"` // a sentence each; empty where OK
	Warnings []string `json:"warnings"` // a sentence each for what could be better, also where OK
	// TCP and HTTP3 are about the addresses.
	TCP   []HandshakeAnswer `json:"tcp"`
	HTTP3 []HandshakeAnswer `json:"http3"`
	// Certificates are in the order of the flags.
	Certificates []CertificateAnswer `json:"certificates"`
	Worker       WorkerAnswer        `json:"worker"`
	Requests     DeskAnswer          `json:"requests"`
}

// HandshakeAnswer is about one address.
type HandshakeAnswer struct {
	Address     string  `json:"address"`
	OK          bool    `json:"ok"` // a handshake with it succeeded
	HandshakeMs float64 `json:"handshakeMs,omitempty"`
}

// CertificateAnswer is about one certificate.
type CertificateAnswer struct {
	Names    string    `json:"names"`
	Ends     time.Time `json:"ends"`
	DaysLeft int       `json:"daysLeft"` // whole days; below 0: it has ended
}

// WorkerAnswer is what the heartbeat says.
type WorkerAnswer struct {
	Watched  bool   `json:"watched"` // with -origin
	OK       bool   `json:"ok"`
	PassedBy uint64 `json:"passedBy"` // requests that went to the origin without it, since the start
	// Descriptors that its process has open, and may have; 0 where nobody can tell.
	Descriptors      int `json:"descriptors"`
	DescriptorsLimit int `json:"descriptorsLimit"`
}

// DeskAnswer says how many requests there are, and how many there may be.
type DeskAnswer struct {
	InFlight  int    `json:"inFlight"`
	Waiting   int    `json:"waiting"`
	Refused   uint64 `json:"refused"` // since the start
	Total     int    `json:"maxRequests"`
	PerClient int    `json:"maxRequestsClient"`
}

// server answers one asker at a time.
type server struct {
	subject Subject

	mu    sync.Mutex
	last  Answer
	until time.Time // last is good until then
}

// Serve listens at t, and answers in the background until the caller closes the server that it returns. Its error names the
// flag -health.
func Serve(t upstream.Target, subject Subject, log *errorlog.Log) (*http.Server, error) {
	ln, err := ownsocket.Listen(t.Network, t.Address)
	if err != nil {
		return nil, fmt.Errorf("flag -health: %w", err)
	}
	s := &server{subject: subject}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.answer)
	h := &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ErrorLog: log.Logger("health")}
	h.SetKeepAlivesEnabled(false) // a descriptor that is kept back is for one answer
	go func() {
		if err := h.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Report("health", err.Error())
		}
	}()
	return h, nil
}

func (s *server) answer(w http.ResponseWriter, _ *http.Request) {
	now := s.look()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !now.OK {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(now)
}

// look finds out how the edge is.
func (s *server) look() Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Now().Before(s.until) {
		return s.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	now := Answer{Problems: []string{}, Warnings: []string{}, Worker: WorkerAnswer{OK: true}}
	var asking sync.WaitGroup
	var origin []string
	if s.subject.Origin != nil {
		asking.Go(func() { origin = s.subject.Origin.Problems(ctx) })
	}
	tcp, http3 := s.handshakes(ctx)
	asking.Wait()
	var deafTCP, deafHTTP3 []string
	now.TCP, deafTCP = problemsOf("TCP", tcp)
	now.HTTP3, deafHTTP3 = problemsOf("HTTP/3", http3)
	now.Problems = append(append(now.Problems, deafTCP...), deafHTTP3...)
	for _, h := range s.subject.HTTP3 {
		if warning := h.Warning(); warning != "" {
			now.Warnings = append(now.Warnings, fmt.Sprintf("HTTP/3 on %s: %s", h.Address, warning))
		}
	}
	for _, leaf := range s.subject.Certificates.Leaves() {
		left := math.Floor(time.Until(leaf.NotAfter).Hours() / 24)
		now.Certificates = append(now.Certificates, CertificateAnswer{certificate.Names(leaf), leaf.NotAfter, int(left)})
	}
	now.Problems = append(now.Problems, s.subject.Certificates.Problems(time.Now())...)
	if s.subject.WorkerGone != nil {
		now.Worker = WorkerAnswer{Watched: true, OK: !s.subject.WorkerGone()}
	}
	if s.subject.Origin != nil {
		now.Problems = append(now.Problems, origin...)
		now.Worker.PassedBy = s.subject.Origin.Requests()
	}
	if !now.Worker.OK {
		now.Problems = append(now.Problems, "the worker does not answer: the origin is asked instead, and nobody decides")
	}
	open, limit := s.subject.Descriptors()
	now.Worker.Descriptors, now.Worker.DescriptorsLimit = open, limit
	if limit > 0 && open > limit/4*3 {
		now.Problems = append(now.Problems, fmt.Sprintf("the worker's process has %d of %d descriptors open", open, limit))
	}
	limits := s.subject.Desk.Limits()
	now.Requests = DeskAnswer{Total: limits.Total, PerClient: limits.PerClient}
	now.Requests.InFlight, now.Requests.Waiting, now.Requests.Refused = s.subject.Desk.Counts()
	now.OK = len(now.Problems) == 0
	s.last, s.until = now, time.Now().Add(kept)
	return now
}
