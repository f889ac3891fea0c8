// Package heartbeat says whether the worker answers, by asking it something small again and again, and what the two programs tell each
// other with that. Of this module it imports upstream.
package heartbeat

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Interval is the time between two questions.
	Interval = 250 * time.Millisecond
	// Patience is the silence after which the server counts as gone.
	Patience = time.Second

	tick          = 50 * time.Millisecond
	ticksInterval = int(Interval / tick)
	ticksPatience = uint64(Patience / tick)
)

// Monitor asks one server. It begins with the server there.
type Monitor struct {
	ask     func(context.Context) error
	changed func(gone bool)
	now     atomic.Pointer[presence] // only Run changes it
}

// presence is one stay of the server, and the absence after it.
type presence struct {
	there context.Context // ends when the server is gone
	leave context.CancelFunc
	back  chan struct{} // closed when the server is back
}

// New makes a monitor. ask returns nil where the server answered; it must end with its context. changed sees
// each change.
func New(ask func(context.Context) error, changed func(gone bool)) *Monitor {
	m := &Monitor{ask: ask, changed: changed}
	m.arrive()
	return m
}

func (m *Monitor) arrive() {
	there, leave := context.WithCancel(context.Background())
	m.now.Store(&presence{there, leave, make(chan struct{})})
}

// There returns a context that ends when the server has been silent for as long as Patience. It has ended while the server is gone.
func (m *Monitor) There() context.Context { return m.now.Load().there }

// Gone says whether the server has been silent for as long as Patience.
func (m *Monitor) Gone() bool { return m.There().Err() != nil }

// Await waits while the server is gone, for d at most, and says whether the server is there.
func (m *Monitor) Await(ctx context.Context, d time.Duration) bool {
	now := m.now.Load()
	if now.there.Err() == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-now.back:
		return true
	case <-ctx.Done():
		return false
	}
}

// Run asks until ctx ends. It counts ticks, not time: a machine that stood still (a suspended virtual machine) drops them,
// so that its own pause is not taken for the server's silence.
func (m *Monitor) Run(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var asking sync.WaitGroup
	defer asking.Wait()
	var waits atomic.Bool    // for an answer
	var silent atomic.Uint64 // ticks
	for ticks := 0; ; ticks++ {
		if ticks%ticksInterval == 0 && waits.CompareAndSwap(false, true) {
			asking.Go(func() {
				defer waits.Store(false)
				ctx, cancel := context.WithTimeout(ctx, Patience)
				defer cancel()
				if m.ask(ctx) == nil {
					silent.Store(0)
				}
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.set(silent.Add(1) >= ticksPatience)
		}
	}
}

func (m *Monitor) set(gone bool) {
	if gone == m.Gone() {
		return
	}
	was := m.now.Load()
	if gone {
		was.leave()
	} else {
		m.arrive()
		close(was.back)
	}
	m.changed(gone)
}
