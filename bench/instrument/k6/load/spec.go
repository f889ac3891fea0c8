// Package load runs one load of an experiment: sessions of one client in a row, of which exactly one is timed.
package load

import (
	"fmt"
	"time"

	"adaptive-h3/bench/instrument/k6/session"
)

// Spec is a load as the plan has it (plan.ts), with the plan's control socket beside it. JSON names a field as Go does,
// whatever the case.
type Spec struct {
	ID string
	session.Config
	// The network path's control socket; without one its counters are null.
	Control string
	// Processes whose CPU time together is the edge's.
	EdgePids []int
	// What each session may take, its pauses not counted. A timed session that takes longer is an outcome, not an error.
	TimeoutMs float64
	// Whether the sessions are one client's that keeps what the server gave it.
	Resume   Resume
	Sessions []SessionSpec
}

// Resume says what a session takes over from those before it.
type Resume string

const (
	// ResumeNothing makes each session a client's that was never here.
	ResumeNothing Resume = ""
	// ResumeTickets resumes TLS sessions.
	ResumeTickets Resume = "tickets"
	// ResumeEarlyData sends the first request in 0-RTT besides; over QUIC alone.
	ResumeEarlyData Resume = "early-data"
)

// SessionSpec is one session of the load's client.
type SessionSpec struct {
	Timed         bool
	FirstProtocol session.Protocol
	Pages         []PageSpec
	PauseAfterMs  float64
}

// PageSpec is one page; the pause after it is in no measure.
type PageSpec struct {
	Document     string
	Subresources []string
	PauseAfterMs float64
}

func (s Spec) check() error {
	timed := 0
	for i, one := range s.Sessions {
		if one.Timed {
			timed++
		}
		if len(one.Pages) == 0 {
			return fmt.Errorf("session %d has no page", i)
		}
	}
	switch {
	case timed != 1:
		return fmt.Errorf("exactly one session is timed, not %d", timed)
	case s.Resume != ResumeNothing && s.Resume != ResumeTickets && s.Resume != ResumeEarlyData:
		return fmt.Errorf("resume %q is none of tickets, early-data", s.Resume)
	case s.TimeoutMs <= 0:
		return fmt.Errorf("timeoutMs (%v) must be above 0", s.TimeoutMs)
	}
	return nil
}

// timeout is the session's deadline: only what is measured counts towards it.
func (s SessionSpec) timeout(timeoutMs float64) time.Duration {
	for _, page := range s.Pages[:len(s.Pages)-1] {
		timeoutMs += page.PauseAfterMs
	}
	return milliseconds(timeoutMs)
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
