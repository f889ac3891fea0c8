package session

import "time"

// Report is what a session saw until now.
type Report struct {
	// In the order in which they became usable.
	Connections []Connection
	// In the order in which they ended.
	Responses []Response
	// Complete pages.
	Pages []time.Duration
	// From the session's start to the first response's header; 0 where none came.
	FirstByte time.Duration
	// The handshake of the first QUIC connection that an Alt-Svc made the session open; 0 where there was none.
	SwitchHandshake time.Duration
	// Switched says whether a response came over such a connection.
	Switched bool
	// The last Alt-Svc received.
	AltSvc string
	// Broken counts the alternatives that could not be reached.
	Broken int
}

// Report may be asked for at any time.
func (s *Session) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Report{
		Responses: append([]Response(nil), s.responses...),
		Pages:     append([]time.Duration(nil), s.pages...),
		FirstByte: s.firstByte,
		Switched:  s.switched,
		AltSvc:    s.altSvc,
		Broken:    len(s.broken),
	}
	for _, connection := range s.connections {
		own := connection.Connection
		if connection.resumed != nil {
			own.Resumed, own.EarlyData = connection.resumed()
		}
		r.Connections = append(r.Connections, own)
		if connection.forAltSvc && r.SwitchHandshake == 0 {
			r.SwitchHandshake = connection.Handshake
		}
	}
	return r
}
