// Package load runs one load of an experiment: sessions of one client in a row, of which exactly one is timed.
package load

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"adaptive-h3/bench/instrument/k6/session"
)

// The outcomes of a load. A load that timed out took longer than its timeout: it stays in the analysis, censored.
const (
	OutcomeOK      = "ok"
	OutcomeFailed  = "failed"
	OutcomeTimeout = "timeout"
)

// Result is one line of the output (plan.ts). All of it is about the timed session; null is unknown.
type Result struct {
	ID            string     `json:"id"`
	ClientAddress netip.Addr `json:"clientAddress"`
	// Since the epoch.
	StartedMs float64 `json:"startedMs"`
	EndedMs   float64 `json:"endedMs"`
	Outcome   string  `json:"outcome"`
	Error     string  `json:"error"`
	// The sum of the pages; null unless all were complete.
	LoadMs session.Ms `json:"loadMs"`
	session.Report
	Readings
}

// Run runs the sessions of a load in a row, each as a client that knows nothing of the one before, unless the load says what
// it keeps. It returns an error only for a specification that makes no sense, and for a context that ends, which is no
// result: whatever happens on the network is an outcome.
func Run(ctx context.Context, spec Spec) (Result, error) {
	result := Result{
		ID: spec.ID, ClientAddress: spec.ClientAddress, StartedMs: epochMs(), Outcome: OutcomeOK, Report: session.NewReport(),
	}
	config := spec.Config
	if spec.Resume != "" {
		config.Resumption = session.NewResumption(spec.Resume == ResumeEarlyData)
	}
	for i, one := range spec.Sessions {
		config.FirstProtocol = one.FirstProtocol
		timedOut, failure, err := result.run(ctx, spec, one, config)
		if err == nil && failure == nil {
			failure = pause(ctx, one.PauseAfterMs)
		}
		switch {
		case err != nil:
			return result, fmt.Errorf("load %q: %w", spec.ID, err)
		case ctx.Err() != nil:
			return result, fmt.Errorf("load %q was interrupted: %w", spec.ID, ctx.Err())
		case failure != nil:
			result.Outcome, result.Error = OutcomeFailed, failure.Error()
			if !one.Timed {
				result.Error = fmt.Sprintf("session %d: %v", i, failure)
			} else if timedOut {
				result.Outcome = OutcomeTimeout
			}
			return result, nil
		}
	}
	return result, nil
}

// run runs one session and, if it is timed, notes what it saw. An error is a mistake of whoever wrote the plan.
func (r *Result) run(
	ctx context.Context, spec Spec, one SessionSpec, config session.Config,
) (timedOut bool, failure, err error) {
	timed, cancel := context.WithTimeout(ctx, one.timeout(spec.TimeoutMs))
	defer cancel()
	client, err := session.Open(timed, config)
	if err != nil {
		return false, nil, err
	}
	defer client.Close()
	var before counters
	if one.Timed {
		before = readBefore(ctx, spec)
		r.StartedMs = epochMs()
	}
	failure = loadPages(timed, client, one.Pages)
	timedOut = errors.Is(timed.Err(), context.DeadlineExceeded)
	if !one.Timed {
		return timedOut, failure, nil
	}
	r.EndedMs = epochMs()
	r.Readings = before.since(ctx, spec)
	r.Report = client.Report()
	if failure == nil {
		failure = spec.Resume.check(r.Report)
	}
	if failure == nil {
		for _, page := range r.Report.Pages {
			r.LoadMs += page
		}
	}
	return timedOut, failure, nil
}

// check says what a timed session lacks of what it was to take over: a measurement of something else.
func (r Resume) check(report session.Report) error {
	for _, connection := range report.Connections {
		switch {
		case r != "" && !connection.Resumed:
			return fmt.Errorf("the server did not resume the TLS session over %s", connection.Protocol)
		case r == ResumeEarlyData && !connection.EarlyData:
			return fmt.Errorf("the server took no early data over %s", connection.Protocol)
		}
	}
	return nil
}

func loadPages(ctx context.Context, client *session.Session, pages []PageSpec) error {
	for i, page := range pages {
		if i > 0 {
			if pages[i-1].LeavesAfter {
				client.Leave()
			}
			if err := pause(ctx, pages[i-1].PauseAfterMs); err != nil {
				return err
			}
		}
		if err := client.LoadPage(page.Document, page.Subresources...); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, ms float64) error {
	select {
	case <-time.After(milliseconds(ms)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func epochMs() float64 { return float64(time.Now().UnixMicro()) / 1e3 }

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

// Resume says what a session takes over from those before it: "tickets" resumes TLS sessions. Empty makes each session a
// client's that was never here.
type Resume string

// ResumeEarlyData sends the first request in 0-RTT besides; over QUIC alone.
const ResumeEarlyData Resume = "early-data"

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
	// Whether the client's connections end with this page: the next one is a return's.
	LeavesAfter  bool
	PauseAfterMs float64
}

// timeout is the session's deadline: only what is measured counts towards it.
func (s SessionSpec) timeout(timeoutMs float64) time.Duration {
	for _, page := range s.Pages[:len(s.Pages)-1] {
		timeoutMs += page.PauseAfterMs
	}
	return milliseconds(timeoutMs)
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
