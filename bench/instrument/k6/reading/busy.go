package reading

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// interval is how often the cores are read, and the shortest window that says anything: the kernel counts in ticks of
// 10 ms, so that 250 ms are 25 of them.
const interval = 250 * time.Millisecond

// kept bounds the history: ten minutes, longer than any load.
const kept = 2400

// core is what one core has done so far, in ticks.
type core struct{ busy, total int64 }

type sample struct {
	at    time.Time
	cores []core
}

// Busy watches the cores of this machine. Start it before the window that is asked for.
type Busy struct {
	mu      sync.Mutex
	samples []sample
	stop    chan struct{}
	stopped sync.WaitGroup
}

// StartBusy begins to watch, until Stop.
func StartBusy() (*Busy, error) {
	b := &Busy{stop: make(chan struct{})}
	if err := b.take(time.Now()); err != nil {
		return nil, err
	}
	b.stopped.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_ = b.take(time.Now()) // one reading less only widens the window
			case <-b.stop:
				return
			}
		}
	})
	return b, nil
}

// Wait returns once the watch is old enough to say something of a short window that begins now.
func (b *Busy) Wait(ctx context.Context) error {
	b.mu.Lock()
	left := interval - time.Since(b.samples[0].at)
	b.mu.Unlock()
	if left <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stop ends the watch.
func (b *Busy) Stop() {
	close(b.stop)
	b.stopped.Wait()
}

// Ratio gives the busy share, 0 to 1, of the busiest core between from and now.
func (b *Busy) Ratio(from time.Time) (float64, error) {
	to := time.Now()
	if err := b.take(to); err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return busiest(b.samples, from, to)
}

func (b *Busy) take(at time.Time) error {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return fmt.Errorf("reading the cores: %w", err)
	}
	cores, err := parseCores(string(text))
	if err != nil {
		return fmt.Errorf("/proc/stat: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.samples = append(b.samples, sample{at, cores})
	if len(b.samples) > kept {
		b.samples = append(b.samples[:0], b.samples[len(b.samples)-kept:]...)
	}
	return nil
}

var errTooShort = errors.New("the cores were not read for long enough")

// busiest compares the last sample at or before `from`, and at least an interval before `to`, with the first at or after
// `to`: a window that is never narrower than the one asked for.
func busiest(samples []sample, from, to time.Time) (float64, error) {
	var first, last *sample
	for i := range samples {
		s := &samples[i]
		if !s.at.After(from) && to.Sub(s.at) >= interval {
			first = s
		}
		if last == nil && !s.at.Before(to) {
			last = s
		}
	}
	if first == nil || last == nil || len(first.cores) != len(last.cores) {
		return 0, errTooShort
	}
	ratio, counted := 0.0, false
	for i, now := range last.cores {
		before := first.cores[i]
		if total := now.total - before.total; total > 0 {
			counted = true
			ratio = max(ratio, float64(now.busy-before.busy)/float64(total))
		}
	}
	if !counted {
		return 0, errTooShort
	}
	return min(max(ratio, 0), 1), nil
}

// parseCores reads the lines cpu0, cpu1, ... (proc(5)): user nice system idle iowait irq softirq steal; guest and
// guest_nice stand in user and nice already. Stolen time counts as busy: another machine had the core then.
func parseCores(text string) ([]core, error) {
	var cores []core
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 9 || !strings.HasPrefix(fields[0], "cpu") || fields[0] == "cpu" {
			continue
		}
		var c core
		for i, field := range fields[1:9] {
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", fields[0], err)
			}
			c.total += ticks
			if idle := i == 3 || i == 4; !idle {
				c.busy += ticks
			}
		}
		cores = append(cores, c)
	}
	if len(cores) == 0 {
		return nil, errors.New("no core in it")
	}
	return cores, nil
}
