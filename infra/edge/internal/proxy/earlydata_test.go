package proxy

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/upstream"
)

// The upstream is told of a request that may be a replay; one that may act twice is refused until nobody can send it again.
func TestEarlyRequests(t *testing.T) {
	told := make(chan string, 1)
	url := edgetest.StartUpstream(t, func(_ http.ResponseWriter, r *http.Request) { told <- r.Header.Get("Early-Data") })
	target, err := upstream.ParseTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	transport := upstream.NewTransport(target, 1)
	defer transport.CloseIdleConnections()
	log := errorlog.New(io.Discard)
	handler := New(patientOptions(target), transport, upstream.NewBounds(upstream.RequestLimits{}, log).Desk(), log)
	for _, test := range []struct {
		method   string
		complete bool
		status   int
		told     string
	}{
		{http.MethodGet, false, http.StatusOK, "1"},
		{http.MethodHead, false, http.StatusOK, "1"},
		{http.MethodGet, true, http.StatusOK, ""},
		{http.MethodPost, true, http.StatusOK, ""},
		{http.MethodPost, false, http.StatusTooEarly, "nothing"},
		{http.MethodDelete, false, http.StatusTooEarly, "nothing"},
	} {
		request := httptest.NewRequest(test.method, "https://localhost/", nil)
		request.TLS = &tls.ConnectionState{HandshakeComplete: test.complete}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		got := "nothing"
		select {
		case got = <-told:
		default:
		}
		if answer.Code != test.status || got != test.told {
			t.Errorf("%s, handshake complete %t: status %d, the upstream was told %q", test.method, test.complete, answer.Code, got)
		}
	}
}
