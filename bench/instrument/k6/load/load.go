package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"adaptive-h3/bench/instrument/k6/reading"
	"adaptive-h3/bench/instrument/k6/session"
)

// Run runs the sessions of a load in a row, each as a client that knows nothing of the one before, unless the load says what
// it keeps. It returns an error only for a specification that makes no sense, and for a context that ends, which is no
// result: whatever happens on the network is an outcome.
func Run(ctx context.Context, spec Spec, busy *reading.Busy) (Result, error) {
	result := Result{
		ID: spec.ID, Arm: spec.Arm, Flow: spec.Flow, Network: spec.Network, ClientAddress: spec.ClientAddress,
		StartedMs: epochMs(), Outcome: OutcomeOK, PageMs: []float64{}, Connections: []Connection{},
	}
	if err := spec.check(); err != nil {
		return result, err
	}
	config, err := spec.config()
	if err != nil {
		return result, fmt.Errorf("load %q: %w", spec.ID, err)
	}
	if busy != nil {
		// At most once, right after the program's start.
		if err := busy.Wait(ctx); err != nil {
			return result, fmt.Errorf("load %q was interrupted: %w", spec.ID, err)
		}
	}
	for i, one := range spec.Sessions {
		config.FirstProtocol = one.FirstProtocol
		if one.Timed {
			err = runTimed(ctx, spec, one, config, busy, &result)
		} else if err = runUntimed(ctx, spec, one, config); err != nil {
			result.WarmupError = fmt.Sprintf("session %d: %v", i, err)
			result.Outcome, result.Error = OutcomeFailed, result.WarmupError
		}
		if ctx.Err() != nil {
			return result, fmt.Errorf("load %q was interrupted: %w", spec.ID, ctx.Err())
		}
		var bad *badSpecError
		if errors.As(err, &bad) {
			return result, fmt.Errorf("load %q: %w", spec.ID, err)
		}
		if err != nil {
			return result, nil
		}
		if err := pause(ctx, one.PauseAfterMs); err != nil {
			return result, fmt.Errorf("load %q was interrupted: %w", spec.ID, err)
		}
	}
	return result, nil
}

func runUntimed(ctx context.Context, spec Spec, one SessionSpec, config session.Config) error {
	ctx, cancel := context.WithTimeout(ctx, one.timeout(spec.TimeoutMs))
	defer cancel()
	client, err := session.Open(ctx, config)
	if err != nil {
		return &badSpecError{err}
	}
	defer client.Close()
	return loadPages(ctx, client, one.Pages)
}

func runTimed(
	ctx context.Context, spec Spec, one SessionSpec, config session.Config, busy *reading.Busy, result *Result,
) error {
	around := beginReadings(ctx, spec, busy)
	timed, cancel := context.WithTimeout(ctx, one.timeout(spec.TimeoutMs))
	defer cancel()
	result.StartedMs = epochMs()
	client, err := session.Open(timed, config)
	if err != nil {
		return &badSpecError{err}
	}
	defer client.Close()
	err = loadPages(timed, client, one.Pages)
	timedOut := errors.Is(timed.Err(), context.DeadlineExceeded)
	around.end(ctx, result)
	result.take(client.Report())
	if err == nil {
		err = spec.Resume.check(result.Report)
	}
	switch {
	case err == nil:
		result.sumPages()
	case timedOut:
		result.Outcome, result.Error = OutcomeTimeout, err.Error()
	default:
		result.Outcome, result.Error = OutcomeFailed, err.Error()
	}
	return err
}

// check says what a timed session lacks of what it was to take over: a measurement of something else.
func (r Resume) check(report session.Report) error {
	for _, connection := range report.Connections {
		switch {
		case r != ResumeNothing && !connection.Resumed:
			return fmt.Errorf("the server did not resume the TLS session over %s", connection.Protocol)
		case r == ResumeEarlyData && !connection.EarlyData:
			return fmt.Errorf("the server took no early data over %s", connection.Protocol)
		}
	}
	return nil
}

func loadPages(ctx context.Context, client *session.Session, pages []PageSpec) error {
	for i, page := range pages {
		if err := client.LoadPage(session.Page{Document: page.Document, Subresources: page.Subresources}); err != nil {
			return err
		}
		if i == len(pages)-1 {
			break // nothing follows that the pause could be before
		}
		if err := pause(ctx, page.PauseAfterMs); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, ms float64) error {
	if ms <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(milliseconds(ms))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// badSpecError is a mistake of whoever wrote the plan, not of the network.
type badSpecError struct{ err error }

func (e *badSpecError) Error() string { return e.err.Error() }
func (e *badSpecError) Unwrap() error { return e.err }

func epochMs() float64 { return float64(time.Now().UnixMicro()) / 1e3 }
