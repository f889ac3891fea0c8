// Package operator answers the operator: GET /health and GET /metrics, each on a listener of its own, which visitors cannot reach. Of this
// module it imports admission, certificate, connpath, errorlog and upstream; of other modules, quic-go and Prometheus's client.
package operator

import (
	"context"
	"net/netip"
	"sync/atomic"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/certificate"
)

// Subject is what the answers are about.
type Subject struct {
	Places       []Place
	Certificates *certificate.Set
	Origin       Origin // nil: nobody watches the worker, and the origin is never asked
	Desk         *admission.Desk
	Registry     *connpath.Registry
	// Crowded returns how many connections were closed because there were too many.
	Crowded func() uint64
	// Handshakes returns how many QUIC handshakes are in progress, how many of them without a proof of the address, and whether every
	// client has to prove its address now.
	Handshakes func() (total, unproven int, asking bool)
	// Misdirected returns how many requests were for hosts that no certificate and no -host has.
	Misdirected func() uint64
	// Descriptors returns how many the process behind has open, and how many it may have; 0 where nobody can tell.
	Descriptors func() (open, limit int)
}

// Place is one address that is served.
type Place struct {
	Address   netip.AddrPort // as it was announced
	ReachedAt netip.AddrPort // where this machine reaches it
	Serves    *atomic.Bool   // whether HTTP/3 is offered; nil: it is off
	Warning   func() string  // what could be better for HTTP/3; "": nothing

	TCPWarning string // the same for TCP
}

// Origin is the way to the origin that needs no worker.
type Origin interface {
	WorkerGone() bool
	Problems(context.Context) []string // a sentence each
	Requests() uint64                  // that went this way since the start
}

// passedBy returns how many requests went to the origin without the worker.
func (s *Subject) passedBy() uint64 {
	if s.Origin == nil {
		return 0
	}
	return s.Origin.Requests()
}

func (s *Subject) requests() DeskAnswer {
	limits := s.Desk.Limits()
	answer := DeskAnswer{Total: limits.Total, PerClient: limits.PerClient}
	answer.InFlight, answer.Waiting, answer.Refused = s.Desk.Counts()
	return answer
}
