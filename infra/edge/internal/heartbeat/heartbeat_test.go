package heartbeat

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// server is what a monitor asks. A silent one answers nothing until it is woken; the others at once, with err.
type server struct {
	silent atomic.Bool
	err    atomic.Pointer[error]
	woken  chan struct{}
	asked  atomic.Int64
}

func (s *server) ask(ctx context.Context) error {
	s.asked.Add(1)
	if s.silent.Load() {
		select {
		case <-s.woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (s *server) wake() {
	s.silent.Store(false)
	close(s.woken)
}

// run has a monitor run in a bubble of fake time.
func run(t *testing.T, test func(t *testing.T, s *server, m *Monitor)) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{woken: make(chan struct{})}
		m := New(s.ask, func(bool) {})
		ctx, cancel := context.WithCancel(t.Context())
		go m.Run(ctx)
		test(t, s, m)
		cancel()
		synctest.Wait()
	})
}

func after(d time.Duration) {
	time.Sleep(d) // fake time
	synctest.Wait()
}

func TestAnswersKeepItThere(t *testing.T) {
	run(t, func(t *testing.T, s *server, m *Monitor) {
		after(time.Minute)
		if m.Gone() {
			t.Error("gone")
		}
		if n := s.asked.Load(); n < 230 || n > 241 {
			t.Errorf("asked %d times in a minute", n)
		}
	})
}

func TestSilenceOfASecond(t *testing.T) {
	run(t, func(t *testing.T, s *server, m *Monitor) {
		after(10 * time.Second)
		s.silent.Store(true)
		after(Patience - Interval)
		if m.Gone() {
			t.Error("gone before its time")
		}
		after(Interval + tick)
		if !m.Gone() {
			t.Error("not gone after a second")
		}
		after(time.Minute)
		s.wake()
		after(Interval + tick)
		if m.Gone() {
			t.Error("still gone, and it answers")
		}
	})
}

// Refusals count as silence, and a single one says nothing.
func TestRefusals(t *testing.T) {
	run(t, func(t *testing.T, s *server, m *Monitor) {
		after(time.Second)
		refused := errors.New("refused")
		s.err.Store(&refused)
		after(2 * Interval)
		if m.Gone() {
			t.Error("gone after two refusals")
		}
		after(Patience)
		if !m.Gone() {
			t.Error("not gone")
		}
		s.err.Store(nil)
		after(Interval + tick)
		if m.Gone() {
			t.Error("still gone, and it answers")
		}
	})
}

// A server that was never there is found to be gone, too.
func TestNeverThere(t *testing.T) {
	run(t, func(t *testing.T, s *server, m *Monitor) {
		s.silent.Store(true)
		after(Patience + tick)
		if !m.Gone() {
			t.Error("not gone")
		}
	})
}

func TestThereEndsOnceItIsGone(t *testing.T) {
	run(t, func(t *testing.T, s *server, m *Monitor) {
		var ended, forgotten atomic.Int64
		context.AfterFunc(m.There(), func() { ended.Add(1) })
		forget := context.AfterFunc(m.There(), func() { forgotten.Add(1) })
		after(time.Second)
		if ended.Load() != 0 || !forget() {
			t.Error("ended, and it is there")
		}
		s.silent.Store(true)
		after(time.Minute)
		if ended.Load() != 1 || forgotten.Load() != 0 || m.There().Err() == nil {
			t.Errorf("ended %d, forgotten %d", ended.Load(), forgotten.Load())
		}
		s.wake()
		after(Interval + tick)
		if m.There().Err() != nil {
			t.Error("ended, and it is back")
		}
	})
}

func TestTellsOfChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{woken: make(chan struct{})}
		var news []bool
		m := New(s.ask, func(gone bool) { news = append(news, gone) })
		ctx, cancel := context.WithCancel(t.Context())
		go m.Run(ctx)
		s.silent.Store(true)
		after(time.Minute)
		s.wake()
		after(time.Minute)
		if len(news) != 2 || !news[0] || news[1] {
			t.Errorf("%v", news)
		}
		cancel()
		synctest.Wait()
	})
}

func TestAwait(t *testing.T) {
	run(t, func(t *testing.T, s *server, m *Monitor) {
		if !m.Await(t.Context(), 0) {
			t.Error("a server that is there is waited for")
		}
		s.silent.Store(true)
		after(Patience + tick)
		if m.Await(t.Context(), time.Second) {
			t.Error("there, and it is silent")
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		if m.Await(left, time.Hour) {
			t.Error("there for a caller that left")
		}
		go func() {
			time.Sleep(time.Second) // fake time
			s.wake()
		}()
		began := time.Now()
		if !m.Await(t.Context(), time.Hour) || time.Since(began) > time.Second+2*Interval {
			t.Errorf("not there after %v", time.Since(began))
		}
	})
}
