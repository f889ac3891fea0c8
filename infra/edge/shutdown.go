package main

import (
	"context"
	"sync"
	"time"

	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/quicserver"
	"adaptive-h3/infra/edge/internal/visitor"
)

const (
	// The last samples get this long to leave; the listener may have been stopped by the same Ctrl-C.
	flushTimeout = 2 * time.Second
	activePoll   = 10 * time.Millisecond

	// What http3 has written when its last handler returns may still be under way, or may be lost and sent again. Closing
	// the connection would throw it away, so it gets a few round trips, and the time of a probe (RFC 9002, section 6.2).
	lingerRTTs = 4
	minLinger  = 250 * time.Millisecond
	maxLinger  = time.Second
)

// shutdown stops accepting, lets requests finish within the timeout, closes what is left, and posts the last samples.
func (e *edge) shutdown(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range e.servers {
		all.Go(func() {
			if s.http.Shutdown(ctx) != nil {
				_ = s.http.Close()
			}
		})
		if s.quic != nil {
			all.Go(func() { e.shutdownHTTP3(ctx, s.quic) })
		}
	}
	all.Wait()

	if e.health != nil {
		_ = e.health.Close()
	}
	if e.tells != nil {
		_ = e.tells.Close()
	}
	e.registry.CloseAll()
	flush, cancelFlush := context.WithTimeout(context.Background(), flushTimeout)
	defer cancelFlush()
	e.registry.WaitUntilGone(flush, func(*visitor.Connection) bool { return true })
	for _, s := range e.servers {
		if s.quic != nil {
			s.quic.Close()
		}
	}
	e.stopBeat()
	e.beating.Wait()
	e.stopScan()
	e.scanning.Wait()
	if e.poster != nil {
		e.poster.Close(flush)
		e.stopPost()
		<-e.poster.Done()
	}
	e.stopPost()
	e.upstream.CloseIdleConnections()
}

// shutdownHTTP3 ends a QUIC server when its requests are done and what they sent has had time to arrive.
func (e *edge) shutdownHTTP3(ctx context.Context, q *quicserver.Server) {
	grace, end := context.WithCancel(ctx)
	defer end()
	go func() {
		defer end()
		e.waitInactive(grace)
		e.lingerQUIC(grace)
	}()
	q.Shutdown(grace)
}

// waitInactive returns when no request is being answered.
func (e *edge) waitInactive(ctx context.Context) {
	ticker := time.NewTicker(activePoll)
	defer ticker.Stop()
	for e.handler.Active() > 0 {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// lingerQUIC leaves the open QUIC connections time for what is under way.
func (e *edge) lingerQUIC(ctx context.Context) {
	isQUIC := func(c *visitor.Connection) bool { return c.Transport == measure.QUIC }
	wait := minLinger
	for _, c := range e.registry.Snapshot(nil) {
		if r, ok := c.Read(); ok && isQUIC(c) {
			wait = max(wait, lingerRTTs*r.RTT)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, min(wait, maxLinger))
	defer cancel()
	e.registry.WaitUntilGone(ctx, isQUIC)
}
