// Package pathsample posts the samples of visitors' connections to the worker's internal listener. It makes no visitor wait. Of this module
// it imports connpath, errorlog and upstream.
package pathsample

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/upstream"
)

const (
	// At some 300 bytes for each sample the queue holds about 1 MB, which is 40 full batches, while the listener is away.
	maxQueue    = 4096
	maxBatch    = 100
	postTimeout = 2 * time.Second
	// The last samples get this long to leave; the listener may have been stopped by the same Ctrl-C.
	flushTimeout = 2 * time.Second
)

// Poster sends samples to the internal listener, in order, with one request at a time. What queues up during a request goes
// as one batch. It never makes anybody wait: a full queue loses its oldest sample, and a batch that fails is lost. It counts
// both losses.
type Poster struct {
	client *http.Client
	url    string
	name   string // for messages
	log    *errorlog.Log

	queue   chan connpath.Sample
	dropped atomic.Uint64 // samples that were lost because the queue was full
	failed  uint64        // samples of batches that failed
}

// NewPoster makes a poster to the listener t.
func NewPoster(t upstream.Target, log *errorlog.Log) *Poster {
	return &Poster{
		client: &http.Client{Transport: upstream.NewTransport(t, 1), Timeout: postTimeout},
		url:    "http://" + t.URLHost() + "/samples",
		name:   t.Address,
		log:    log,
		queue:  make(chan connpath.Sample, maxQueue),
	}
}

// Emit queues a sample, and returns at once.
func (p *Poster) Emit(s connpath.Sample) {
	for {
		select {
		case p.queue <- s:
			return
		default:
		}
		select {
		case <-p.queue:
			p.dropped.Add(1)
		default:
		}
	}
}

// Run sends until ctx ends, and then what is queued, for flushTimeout at most.
func (p *Poster) Run(ctx context.Context) {
	defer p.client.CloseIdleConnections()
	sending, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(flushTimeout, end) })()
	for ctx.Err() == nil {
		select {
		case s := <-p.queue:
			p.send(sending, s)
		case <-ctx.Done():
		}
	}
	for sending.Err() == nil && len(p.queue) > 0 {
		p.send(sending, <-p.queue)
	}
}

// send sends a sample, with others that wait.
func (p *Poster) send(ctx context.Context, s connpath.Sample) {
	batch := []connpath.Sample{s}
	for len(batch) < maxBatch && len(p.queue) > 0 {
		batch = append(batch, <-p.queue)
	}
	if err := p.post(ctx, batch); err != nil {
		p.failed += uint64(len(batch))
		p.log.Report("samples", fmt.Sprintf("%s does not take path samples: %v; %d lost so far, %d more for want of room",
			p.name, upstream.Describe(err), p.failed, p.dropped.Load()))
	}
}

// post sends one batch: POST /samples with {"samples": [...]}.
func (p *Poster) post(ctx context.Context, batch []connpath.Sample) error {
	body, err := json.Marshal(struct {
		Samples []connpath.Sample `json:"samples"`
	}{batch})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	// Read to the end, so that the client can use the connection again. Nobody needs the answer itself.
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}
