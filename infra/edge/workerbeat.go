package main

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"adaptive-h3/infra/edge/internal/heartbeat"
)

// newOriginFallback puts the origin behind the worker.
func newOriginFallback(worker http.RoundTripper, opts options, log *reporter) *originFallback {
	client := &http.Client{Transport: newTransport(opts.samples, 1, nil)}
	monitor := heartbeat.New(func(ctx context.Context) error { return askBeat(ctx, client, opts.samples) }, func(gone bool) {
		if gone {
			log.report("worker", fmt.Sprintf("%s does not answer: %s is asked instead, and nobody decides", opts.samples.address, opts.origin.Host))
		} else {
			log.report("worker back", opts.samples.address+" answers again")
		}
	})
	return &originFallback{
		worker: worker, origin: newOriginTransport(), url: opts.origin,
		monitor: monitor, run: func(ctx context.Context) { monitor.Run(ctx); client.CloseIdleConnections() },
	}
}

// askBeat asks the worker's internal listener whether it is there: GET /heartbeat, answered by a 2xx.
func askBeat(ctx context.Context, client *http.Client, t target) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.urlHost()+"/heartbeat", nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 4<<10))
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}
