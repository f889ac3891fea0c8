package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// asked is what the worker asked of a page, and what the page has to say (worker/reporter).
type asked struct {
	began     time.Time
	firstByte Ms
	protocol  Protocol
	token     string
}

// The worker's token is a metric of Server-Timing without a time (W3C Server Timing, section 3.1).
var tokenMetric = regexp.MustCompile(`\bh3;desc="([^"]+)"`)

// take notes what the first response of a page says.
func (a *asked) take(response *http.Response) {
	if a.firstByte == 0 {
		a.firstByte = MsOf(time.Since(a.began))
	}
	if found := tokenMetric.FindStringSubmatch(strings.Join(response.Header["Server-Timing"], ",")); found != nil {
		a.token = found[1]
	}
}

// told is a report as the worker's script sends it (policy-api/reports/page-report.ts), in whole milliseconds.
type told struct {
	Token       string   `json:"token"`
	Protocol    Protocol `json:"protocol"`
	ConnectMs   int      `json:"connectMs"`
	TTFBMs      int      `json:"ttfbMs"`
	LoadMs      int      `json:"loadMs"`
	AtMs        int      `json:"atMs"`
	Files       []any    `json:"files"`
	Connections []any    `json:"connections"`
}

// tell reports a page that has just been loaded, over an open connection. In no measure.
func (s *Session) tell(page asked, took Ms) error {
	whole := func(ms Ms) int { return int(math.Round(float64(ms))) }
	body, err := json.Marshal(told{
		Token: page.token, Protocol: page.protocol, TTFBMs: whole(page.firstByte), LoadMs: whole(took), AtMs: whole(took),
		Files: []any{}, Connections: []any{},
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
