package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"adaptive-h3/infra/edge/internal/certificate"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/upstream"
)

// handshakeTimeout is how long everything that is asked may take on a busy machine.
const handshakeTimeout = 2 * time.Second

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
	Address     netip.AddrPort `json:"address"`
	OK          bool           `json:"ok"` // a handshake with it succeeded
	HandshakeMs float64        `json:"handshakeMs,omitempty"`

	problem string
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

// ServeHealth answers GET /health at t, nowhere where that is the zero target, until the caller closes the server that it returns.
func ServeHealth(t upstream.Target, subject *Subject, log *errorlog.Log) (*http.Server, error) {
	return serve("health", t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := subject.look()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if !now.OK {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(now)
	}), log)
}

// look finds out how the edge is. It asks the edge's servers as a client would.
func (s *Subject) look() Answer {
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTimeout)
	defer cancel()
	now := Answer{Problems: []string{}, Warnings: []string{}, Worker: WorkerAnswer{OK: true, PassedBy: s.passedBy()}}
	var asking sync.WaitGroup
	var origin []string
	if s.Origin != nil {
		asking.Go(func() { origin = s.Origin.Problems(ctx) })
	}
	leaf := s.Certificates.Leaves()[0]
	http3 := slices.DeleteFunc(slices.Clone(s.Places), func(p Place) bool { return p.Serves == nil })
	asking.Go(func() { now.TCP = askAll(ctx, "TCP", s.Places, leaf, dialTCP) })
	asking.Go(func() { now.HTTP3 = askAll(ctx, "HTTP/3", http3, leaf, dialQUIC) })
	asking.Wait()
	for _, a := range slices.Concat(now.TCP, now.HTTP3) {
		if a.problem != "" {
			now.Problems = append(now.Problems, a.problem)
		}
	}
	for _, p := range s.Places {
		if p.TCPWarning != "" {
			now.Warnings = append(now.Warnings, fmt.Sprintf("TCP on %s: %s", p.Address, p.TCPWarning))
		}
	}
	for _, p := range http3 {
		if warning := p.Warning(); warning != "" {
			now.Warnings = append(now.Warnings, fmt.Sprintf("HTTP/3 on %s: %s", p.Address, warning))
		}
	}
	for _, leaf := range s.Certificates.Leaves() {
		left := math.Floor(time.Until(leaf.NotAfter).Hours() / 24)
		now.Certificates = append(now.Certificates, CertificateAnswer{certificate.Names(leaf), leaf.NotAfter, int(left)})
	}
	now.Problems = append(append(now.Problems, s.Certificates.Problems(time.Now())...), origin...)
	if s.Origin != nil {
		now.Worker.Watched, now.Worker.OK = true, !s.Origin.WorkerGone()
	}
	if !now.Worker.OK {
		now.Problems = append(now.Problems, "the worker does not answer: the origin is asked instead, and nobody decides")
	}
	open, limit := s.Descriptors()
	now.Worker.Descriptors, now.Worker.DescriptorsLimit = open, limit
	if limit > 0 && open > limit/4*3 {
		now.Problems = append(now.Problems, fmt.Sprintf("the worker's process has %d of %d descriptors open", open, limit))
	}
	now.Requests = s.requests()
	now.OK = len(now.Problems) == 0
	return now
}
