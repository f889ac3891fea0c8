package session

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// Ms is a duration in milliseconds, to the microsecond: what lies below is the clock's noise. 0 was never measured, and is
// written as null.
type Ms float64

// MsOf converts a duration.
func MsOf(d time.Duration) Ms { return Ms(math.Round(float64(d)/1e3) / 1e3) }

// MarshalJSON writes a number or null.
func (m Ms) MarshalJSON() ([]byte, error) {
	if m == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(float64(m))
}

// Report is what a session saw until now, as a load's line has it (plan.ts).
type Report struct {
	// Complete pages.
	Pages []Ms `json:"pageMs"`
	// Of each of them, how many of its subresources came over HTTP/3.
	FilesH3 []int `json:"filesH3"`
	// Of the first connection.
	Handshake Ms `json:"handshakeMs"`
	// Of the first QUIC connection that an Alt-Svc made the session open.
	SwitchHandshake Ms `json:"switchHandshakeMs"`
	// From the session's start to the first response's header.
	FirstByte        Ms       `json:"ttfbMs"`
	DocumentProtocol Protocol `json:"documentProtocol"`
	LastProtocol     Protocol `json:"lastProtocol"`
	// Whether a response came over a connection that an Alt-Svc made the session open.
	Switched bool `json:"switched"`
	// The last Alt-Svc received.
	AltSvc string `json:"altSvc"`
	// Whether an alternative could not be reached.
	Broken bool  `json:"altSvcBroken"`
	Bytes  int64 `json:"bytes"`
	// In the order in which they became usable.
	Connections []Connection `json:"connections"`
	// Of each response, in the order in which they ended.
	Protocols []Protocol `json:"-"`
}

// NewReport is one of nothing: its lists are empty, and not null.
func NewReport() Report {
	return Report{Pages: []Ms{}, FilesH3: []int{}, Connections: []Connection{}}
}

// Connection is what is reported of a connection.
type Connection struct {
	Protocol Protocol `json:"protocol"`
	// From the beginning until requests may be sent: TCP and TLS, a name lookup included, or QUIC's handshake, which is
	// both. With 0-RTT they may be sent at once, and it is next to nothing.
	Handshake Ms `json:"handshakeMs"`
	// Whether its TLS session was resumed, and whether the server accepted 0-RTT packets.
	Resumed   bool `json:"-"`
	EarlyData bool `json:"-"`
}

// Report may be asked for at any time.
func (s *Session) Report() Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.report
	r.Pages, r.FilesH3 = slices.Clone(r.Pages), slices.Clone(r.FilesH3)
	r.Connections, r.Protocols = slices.Clone(r.Connections), slices.Clone(r.Protocols)
	for i, connection := range s.connections {
		r.Connections[i].Resumed, r.Connections[i].EarlyData = connection.resumed()
	}
	return r
}

// opened notes a new connection, so that it is reported, and closed at the end.
func (s *Session) opened(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.report
	if len(s.connections) == 0 {
		r.Handshake = c.Handshake
	}
	if c.forAltSvc && r.SwitchHandshake == 0 {
		r.SwitchHandshake = c.Handshake
	}
	s.connections = append(s.connections, c)
	r.Connections = append(r.Connections, c.Connection)
}

// ended notes a response whose body has ended.
func (s *Session) ended(bytes int64, over *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.report
	r.Protocols = append(r.Protocols, over.Protocol)
	r.DocumentProtocol, r.LastProtocol = r.Protocols[0], over.Protocol
	r.Switched = r.Switched || over.forAltSvc
	r.Bytes += bytes
}
