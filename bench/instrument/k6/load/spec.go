// Package load runs one load of an experiment: sessions of one client in a row, of which exactly one is timed.
package load

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"adaptive-h3/bench/instrument/k6/session"
)

// Spec is a load as the plan has it (plan.ts), with the plan's network and control socket beside it.
type Spec struct {
	ID            string  `json:"id"`
	Arm           string  `json:"arm"`
	Flow          string  `json:"flow"`
	Network       string  `json:"network"`
	Control       *string `json:"control"`
	ClientAddress string  `json:"clientAddress"`
	Origin        Origin  `json:"origin"`
	// Processes whose CPU time together is the edge's.
	EdgePids []int `json:"edgePids"`
	// What each session may take, its pauses not counted. A timed session that takes longer is an outcome, not an error.
	TimeoutMs     float64        `json:"timeoutMs"`
	Switch        session.Switch `json:"switch"`
	Parallel      int            `json:"parallel"`
	QUICTimeoutMs float64        `json:"quicTimeoutMs"`
	Move          *MoveSpec      `json:"move"`
	// Of QUIC connections; 0 leaves quic-go its own choice.
	UDPReceiveBufferBytes int `json:"udpReceiveBufferBytes"`
	// Whether the sessions are one client's that keeps what the server gave it.
	Resume   Resume            `json:"resume"`
	Tags     map[string]string `json:"tags"`
	Sessions []SessionSpec     `json:"sessions"`

	// Trust any certificate; k6's own option of that name.
	InsecureSkipVerify bool `json:"-"`
}

// Resume says what a session takes over from those before it.
type Resume string

const (
	// ResumeNothing makes each session a client's that was never here.
	ResumeNothing Resume = ""
	// ResumeTickets resumes TLS sessions.
	ResumeTickets Resume = "tickets"
	// ResumeEarlyData sends the first request in 0-RTT besides; over QUIC alone.
	ResumeEarlyData Resume = "early-data"
)

// Origin is where the requests go. Without an address the host is looked up, without a file the system's roots count.
type Origin struct {
	Host    string `json:"host"`
	Address string `json:"address"`
	Port    int    `json:"port"`
	CAFile  string `json:"caFile"`
}

// MoveSpec is a change of the client's address in each session.
type MoveSpec struct {
	AfterBytes    int64  `json:"afterBytes"`
	ClientAddress string `json:"clientAddress"`
}

// SessionSpec is one session of the load's client.
type SessionSpec struct {
	Timed         bool             `json:"timed"`
	FirstProtocol session.Protocol `json:"firstProtocol"`
	Pages         []PageSpec       `json:"pages"`
	PauseAfterMs  float64          `json:"pauseAfterMs"`
}

// PageSpec is one page; the pause after it is in no measure.
type PageSpec struct {
	Document     string   `json:"document"`
	Subresources []string `json:"subresources"`
	PauseAfterMs float64  `json:"pauseAfterMs"`
}

func (s Spec) check() error {
	timed := 0
	for i, one := range s.Sessions {
		if one.Timed {
			timed++
		}
		if len(one.Pages) == 0 {
			return fmt.Errorf("load %q: session %d has no page", s.ID, i)
		}
	}
	if timed != 1 {
		return fmt.Errorf("load %q: exactly one session is timed, not %d", s.ID, timed)
	}
	switch s.Resume {
	case ResumeNothing, ResumeTickets, ResumeEarlyData:
	default:
		return fmt.Errorf("load %q: resume %q is none of tickets, early-data", s.ID, s.Resume)
	}
	if s.TimeoutMs <= 0 {
		return fmt.Errorf("load %q: timeoutMs must be above 0", s.ID)
	}
	return nil
}

// TimedSession gives the one session that is timed.
func (s Spec) TimedSession() SessionSpec {
	for _, one := range s.Sessions {
		if one.Timed {
			return one
		}
	}
	return SessionSpec{}
}

// config gives what all sessions of the load have in common.
func (s Spec) config() (session.Config, error) {
	config := session.Config{
		Host: s.Origin.Host, Port: s.Origin.Port, Address: s.Origin.Address,
		Switch: s.Switch, Parallel: s.Parallel, QUICTimeout: milliseconds(s.QUICTimeoutMs),
		UDPReceiveBuffer:   s.UDPReceiveBufferBytes,
		InsecureSkipVerify: s.InsecureSkipVerify,
	}
	if s.Resume != ResumeNothing {
		config.Resumption = session.NewResumption(s.Resume == ResumeEarlyData)
	}
	if s.ClientAddress != "" {
		address, err := netip.ParseAddr(s.ClientAddress)
		if err != nil {
			return config, fmt.Errorf("clientAddress: %w", err)
		}
		config.ClientAddress = address
	}
	if s.Move != nil {
		to, err := netip.ParseAddr(s.Move.ClientAddress)
		if err != nil {
			return config, fmt.Errorf("move.clientAddress: %w", err)
		}
		config.Move = &session.Move{AfterBytes: s.Move.AfterBytes, To: to}
	}
	if s.Origin.CAFile != "" {
		pem, err := os.ReadFile(s.Origin.CAFile)
		if err != nil {
			return config, fmt.Errorf("caFile: %w", err)
		}
		config.Roots = x509.NewCertPool()
		if !config.Roots.AppendCertsFromPEM(pem) {
			return config, errors.New("caFile: no certificate in " + s.Origin.CAFile)
		}
	}
	return config, nil
}

// timeout is the session's deadline: only what is measured counts towards it.
func (s SessionSpec) timeout(timeoutMs float64) time.Duration {
	for _, page := range s.Pages[:len(s.Pages)-1] {
		timeoutMs += page.PauseAfterMs
	}
	return milliseconds(timeoutMs)
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
