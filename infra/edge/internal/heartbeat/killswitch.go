package heartbeat

import (
	"net/http"
	"sync/atomic"
)

const (
	// killHeader carries the kill switch, in both directions.
	killHeader = "Adaptive-H3-Kill"
	// off is what a worker says that has stored the switch, or was told to turn it off.
	off = "off"
	// Longer than what the worker sends.
	maxLength = 200
)

// KillSwitch holds a kill switch that the worker could not store, if there is one. The worker says so with its heartbeat, and this program
// says it back to a worker that was started since. So the switch stays on while one of the two runs. Its zero value is off; nil is off too.
type KillSwitch struct{ held atomic.Pointer[string] }

// On says whether there is one. Then nothing offers HTTP/3.
func (s *KillSwitch) On() bool { return s != nil && s.held.Load() != nil }

// announce says in a question to the worker what is held.
func (s *KillSwitch) announce(question http.Header) {
	if held := s.held.Load(); held != nil {
		question.Set(killHeader, *held)
	}
}

// hear takes what the worker answers. An answer that says nothing changes nothing: that worker was started just now.
func (s *KillSwitch) hear(answer http.Header) {
	switch said := answer.Get(killHeader); {
	case said == "" || len(said) > maxLength:
	case said == off:
		s.held.Store(nil)
	default:
		s.held.Store(&said)
	}
}
