package load

import (
	"math"
	"time"

	"adaptive-h3/bench/instrument/k6/session"
)

// The outcomes of a load. A load that timed out took longer than its timeout: it stays in the analysis, censored.
const (
	OutcomeOK      = "ok"
	OutcomeFailed  = "failed"
	OutcomeTimeout = "timeout"
)

// Result is one line of the output (plan.ts). All of it is about the timed session; nil is null is unknown.
type Result struct {
	ID            string `json:"id"`
	Arm           string `json:"arm"`
	Flow          string `json:"flow"`
	Network       string `json:"network"`
	ClientAddress string `json:"clientAddress"`
	// Since the epoch.
	StartedMs float64 `json:"startedMs"`
	Outcome   string  `json:"outcome"`
	Error     string  `json:"error"`
	// The sum of the pages; null unless all were complete.
	LoadMs *float64  `json:"loadMs"`
	PageMs []float64 `json:"pageMs"`
	// Of the first connection; connectMs is TCP's part of it.
	HandshakeMs *float64 `json:"handshakeMs"`
	ConnectMs   *float64 `json:"connectMs"`
	// Of the first QUIC connection that an Alt-Svc made the client open.
	SwitchHandshakeMs *float64 `json:"switchHandshakeMs"`
	// From the session's start to the first response's header.
	TTFBMs           *float64         `json:"ttfbMs"`
	DocumentProtocol session.Protocol `json:"documentProtocol"`
	LastProtocol     session.Protocol `json:"lastProtocol"`
	Switched         bool             `json:"switched"`
	AltSvc           string           `json:"altSvc"`
	AltSvcBroken     bool             `json:"altSvcBroken"`
	Bytes            int64            `json:"bytes"`
	Connections      []Connection     `json:"connections"`
	EdgeCPUMs        *float64         `json:"edgeCpuMs"`
	ClientCPUMs      *float64         `json:"clientCpuMs"`
	BusyRatio        *float64         `json:"busyRatio"`
	LateRatio        *float64         `json:"lateRatio"`
	PathLate         *int64           `json:"pathLate"`
	PathForwarded    *int64           `json:"pathForwarded"`
	DroppedLoss      *int64           `json:"droppedLoss"`
	DroppedQueue     *int64           `json:"droppedQueue"`
	DroppedFault     *int64           `json:"droppedFault"`
	WarmupError      string           `json:"warmupError"`

	// Report is what the timed session saw, for metrics that are finer than the line.
	Report session.Report `json:"-"`
}

// Connection is one connection of the timed session.
type Connection struct {
	Protocol    session.Protocol `json:"protocol"`
	LocalPort   int              `json:"localPort"`
	HandshakeMs float64          `json:"handshakeMs"`
	// When it began to be opened, since the session's start.
	OpenedMs float64 `json:"openedMs"`
}

// take fills in what the timed session saw.
func (r *Result) take(report session.Report) {
	r.Report = report
	for _, page := range report.Pages {
		r.PageMs = append(r.PageMs, toMs(page))
	}
	for _, c := range report.Connections {
		r.Connections = append(r.Connections, Connection{c.Protocol, c.LocalPort, toMs(c.Handshake), toMs(c.Opened)})
	}
	if len(report.Connections) > 0 {
		r.HandshakeMs = known(report.Connections[0].Handshake)
		r.ConnectMs = known(report.Connections[0].Connect)
	}
	r.SwitchHandshakeMs = known(report.SwitchHandshake)
	r.TTFBMs = known(report.FirstByte)
	for _, response := range report.Responses {
		r.Bytes += response.Bytes
	}
	if n := len(report.Responses); n > 0 {
		r.DocumentProtocol, r.LastProtocol = report.Responses[0].Protocol, report.Responses[n-1].Protocol
	}
	r.Switched, r.AltSvc, r.AltSvcBroken = report.Switched, report.AltSvc, report.Broken > 0
}

func (r *Result) sumPages() {
	var sum time.Duration
	for _, page := range r.Report.Pages {
		sum += page
	}
	r.LoadMs = known(sum)
}

// known turns the zero of a duration that was never measured into null.
func known(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	ms := toMs(d)
	return &ms
}

// toMs keeps microseconds: what lies below is the clock's noise.
func toMs(d time.Duration) float64 { return math.Round(float64(d)/1e3) / 1e3 }
