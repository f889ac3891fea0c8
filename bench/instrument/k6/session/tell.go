package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// asked is what the worker asked of a page, and what the page has to say (worker/reporter).
type asked struct {
	began     time.Time
	firstByte Ms
	protocol  Protocol
	token     string
	// The last reading of each connection, by its name.
	readings map[string]reading
}

// reading is what the server wrote of a connection at the head of a response.
type reading struct {
	l4 string
	at time.Time
}

// The worker's token is a metric of Server-Timing without a time (W3C Server Timing, section 3.1).
var tokenMetric = regexp.MustCompile(`\bh3;desc="([^"]+)"`)

// Cloudflare's metric of a connection, and the connection's name in it (infra/edge/internal/metadata/servertiming.go).
var (
	l4Metric     = regexp.MustCompile(`\bcfL4;desc="([^"]+)"`)
	connectionID = regexp.MustCompile(`\bcid=([^&]+)`)
)

// A report has room for so many connections (policy-api/visitors/page-report.ts).
const connectionsMax = 4

// take notes what a page's script reads of a response.
func (a *asked) take(response *http.Response) {
	if a.firstByte == 0 {
		a.firstByte = MsOf(time.Since(a.began))
	}
	metrics := strings.Join(response.Header["Server-Timing"], ",")
	if found := tokenMetric.FindStringSubmatch(metrics); found != nil {
		a.token = found[1]
	}
	if found := l4Metric.FindStringSubmatch(metrics); found != nil {
		if name := connectionID.FindString(found[1]); name != "" {
			if a.readings == nil {
				a.readings = map[string]reading{}
			}
			a.readings[name] = reading{l4: found[1], at: time.Now()}
		}
	}
}

// connections gives the readings as a report has them, those of the latest first.
func (a *asked) connections(now time.Time) []toldConnection {
	latest := slices.SortedFunc(maps.Values(a.readings), func(one, other reading) int { return other.at.Compare(one.at) })
	told := []toldConnection{}
	for _, r := range latest[:min(len(latest), connectionsMax)] {
		told = append(told, toldConnection{L4: r.l4, AgoMs: int(now.Sub(r.at).Milliseconds())})
	}
	return told
}

// told is a report as the worker's script sends it (policy-api/visitors/page-report.ts), in whole milliseconds.
type told struct {
	Token       string           `json:"token"`
	Protocol    Protocol         `json:"protocol"`
	ConnectMs   int              `json:"connectMs"`
	TTFBMs      int              `json:"ttfbMs"`
	LoadMs      int              `json:"loadMs"`
	AtMs        int              `json:"atMs"`
	Files       []any            `json:"files"`
	Connections []toldConnection `json:"connections"`
}

type toldConnection struct {
	L4    string `json:"l4"`
	AgoMs int    `json:"agoMs"`
}

// tell reports a page that has just been loaded, over an open connection. In no measure.
func (s *Session) tell(page asked, took Ms) error {
	whole := func(ms Ms) int { return int(math.Round(float64(ms))) }
	body, err := json.Marshal(told{
		Token: page.token, Protocol: page.protocol, TTFBMs: whole(page.firstByte), LoadMs: whole(took), AtMs: whole(took),
		Files: []any{}, Connections: page.connections(page.began.Add(time.Duration(float64(took) * float64(time.Millisecond)))),
	})
	if err != nil {
		return fmt.Errorf("a report: %w", err)
	}
	connection, err := s.route(s.ctx)
	if err != nil {
		return err
	}
	const path = "/_h3/v1/report"
	request, err := http.NewRequestWithContext(s.ctx, http.MethodPost, "https://"+s.authority+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = requestHeader("empty", "no-cors", "same-origin")
	request.Header.Set("Content-Type", "text/plain;charset=UTF-8")
	response, err := connection.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("a report over %s: %w", connection.Protocol, err)
	}
	defer response.Body.Close()
	if _, err := countBytes(response.Body); err != nil {
		return fmt.Errorf("a report over %s: %w", connection.Protocol, err)
	}
	s.release(connection)
	if response.StatusCode == http.StatusNoContent {
		s.mu.Lock()
		s.report.Told = append(s.report.Told, page.token)
		s.mu.Unlock()
	}
	return nil
}
