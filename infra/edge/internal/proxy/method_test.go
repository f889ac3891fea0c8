package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/upstream"
)

// The servers of HTTP/2 and HTTP/3 pass on every method. The upstream's transport refused some, and the visitor got a 502.
func TestAMethodThatIsNoTokenIsTheVisitorsFault(t *testing.T) {
	log := errorlog.New(io.Discard)
	target := upstream.Target{Network: "tcp", Address: "127.0.0.1:1"}
	handler := New(patientOptions(target), upstream.NewTransport(target, 1), upstream.NewBounds(upstream.RequestLimits{}, log).Desk(), log)
	for _, method := range []string{"GETa b", "GET / HTTP/1.1\r\nX: y\r\n\r\n", "", "GET ", "G\x00", "\xff", "G\u00e9T", "A:", "(", "@"} {
		request := httptest.NewRequest(http.MethodGet, "https://localhost/", nil)
		request.Method = method
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		if answer.Code != http.StatusBadRequest {
			t.Errorf("%q gets a %d", method, answer.Code)
		}
	}
}
