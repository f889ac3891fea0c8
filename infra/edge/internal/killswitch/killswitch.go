// Package killswitch holds a kill switch that the worker could not store. The worker says so with its heartbeat, and this
// program says it back to a worker that was started since. So the switch stays on while one of the two runs. The package
// imports only the standard library.
package killswitch

import (
	"net/http"
	"sync/atomic"
)

const (
	// header carries the kill switch, in both directions.
	header = "Adaptive-H3-Kill"
	// off is what a worker says that has stored the switch, or was told to turn it off.
	off = "off"
	// Longer than what the worker sends.
	maxLength = 200
)

// Switch is the kill switch that the worker could not store, if there is one. Its zero value is off and ready to use; nil is
// off too.
type Switch struct{ held atomic.Pointer[string] }

// On says whether there is one. Then nothing offers HTTP/3.
func (s *Switch) On() bool { return s != nil && s.held.Load() != nil }

// Tell says in a question to the worker what is held.
func (s *Switch) Tell(question http.Header) {
	if held := s.held.Load(); held != nil {
		question.Set(header, *held)
	}
}

// Hear takes what the worker answers. An answer that says nothing changes nothing: that worker was started just now.
func (s *Switch) Hear(answer http.Header) {
	switch said := answer.Get(header); {
	case said == "" || len(said) > maxLength:
	case said == off:
		s.held.Store(nil)
	default:
		s.held.Store(&said)
	}
}
