package proxy

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/upstream"
)

// deadlineRecorder is a response writer that may not be touched once its handler has returned, as HTTP/2's.
type deadlineRecorder struct {
	http.ResponseWriter
	t        *testing.T
	returned bool
}

func (d *deadlineRecorder) SetReadDeadline(time.Time) error {
	if d.returned {
		d.t.Error("the response writer was touched after its handler had returned")
	}
	return nil
}

// The transport may go on reading a body after the handler has returned, as when the upstream answered early: it gets an
// error, and touches neither the writer nor the connection.
func TestBodyReadAfterTheHandler(t *testing.T) {
	options := patientOptions(upstream.Target{})
	recorder := &deadlineRecorder{t: t}
	request, err := http.NewRequest(http.MethodPost, "/", io.NopCloser(strings.NewReader("body")))
	if err != nil {
		t.Fatal(err)
	}
	request, body := boundBody(recorder, request, &options)
	body.release()
	body.end()
	recorder.returned = true
	if got, err := io.ReadAll(request.Body); !errors.Is(err, errBodyOver) || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
	if err := request.Body.Close(); err != nil {
		t.Error(err)
	}
	body.release()
}
