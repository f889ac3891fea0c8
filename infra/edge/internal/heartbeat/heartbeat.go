// Package heartbeat tells whether a server answers, by asking it something small again and again. It knows no HTTP, and
// imports only the standard library.
package heartbeat

import (
	"context"
	"sync"
	"time"
)

const (
	// Interval is the time between two questions.
	Interval = 250 * time.Millisecond
	// Patience is the silence after which the server counts as gone.
	Patience = time.Second

	tick          = 50 * time.Millisecond
	ticksInterval = int(Interval / tick)
	ticksPatience = int(Patience / tick)
)

// Monitor asks one server. It begins with the server there.
type Monitor struct {
	ask     func(context.Context) error
	changed func(gone bool)

	mu      sync.Mutex
	back    chan struct{} // while the server is gone: closed when it is back
	waiting map[*func()]struct{}
}

// New makes a monitor. ask returns nil where the server answered; it must end with its context. changed, which may be nil,
// is told of each change.
func New(ask func(context.Context) error, changed func(gone bool)) *Monitor {
	return &Monitor{ask: ask, changed: changed, waiting: map[*func()]struct{}{}}
}

// Gone says whether the server has been silent for as long as Patience.
func (m *Monitor) Gone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.back != nil
}

// Await waits while the server is gone, for d at most, and says whether the server is there.
func (m *Monitor) Await(ctx context.Context, d time.Duration) bool {
	m.mu.Lock()
	back := m.back
	m.mu.Unlock()
	if back == nil {
		return true
	}
	timeout := time.NewTimer(d)
	defer timeout.Stop()
	select {
	case <-back:
		return true
	case <-timeout.C:
	case <-ctx.Done():
	}
	return false
}

// OnGone has f called once when the server is gone: at once where it is. f must not block. The caller calls forget when it
// is no longer interested.
func (m *Monitor) OnGone(f func()) (forget func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.back != nil {
		f()
		return func() {}
	}
	key := &f
	m.waiting[key] = struct{}{}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.waiting, key)
	}
}

// Run asks until ctx ends. It counts ticks, not time: a machine that stood still (a suspended virtual machine) drops them,
// so that its own pause is not taken for the server's silence.
func (m *Monitor) Run(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	answers := make(chan error)
	asking := false
	sinceAsked, silent := ticksInterval, 0
	for {
		select {
		case <-ctx.Done():
			if asking {
				<-answers
			}
			return
		case err := <-answers:
			asking = false
			if err == nil {
				silent = 0
				m.set(false)
			}
		case <-ticker.C:
			silent++
			sinceAsked++
			if silent >= ticksPatience {
				m.set(true)
			}
			if !asking && sinceAsked >= ticksInterval {
				asking, sinceAsked = true, 0
				go func() {
					ctx, cancel := context.WithTimeout(ctx, Patience)
					defer cancel()
					answers <- m.ask(ctx)
				}()
			}
		}
	}
}

func (m *Monitor) set(gone bool) {
	m.mu.Lock()
	if gone == (m.back != nil) {
		m.mu.Unlock()
		return
	}
	var told []func()
	if !gone {
		close(m.back)
		m.back = nil
	} else {
		m.back = make(chan struct{})
		for f := range m.waiting {
			told = append(told, *f)
		}
		clear(m.waiting)
	}
	m.mu.Unlock()
	for _, f := range told {
		f()
	}
	if m.changed != nil {
		m.changed(gone)
	}
}
