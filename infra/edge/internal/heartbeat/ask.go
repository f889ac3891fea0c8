package heartbeat

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"adaptive-h3/infra/edge/internal/upstream"
)

const (
	// http3Header tells the worker whether HTTP/3 answers, for its own health.
	http3Header = "Adaptive-H3-Http3"
	// buffersHeader tells it how large the buffers of HTTP/3's sockets are, for whoever looks at the site from outside.
	buffersHeader = "Adaptive-H3-Udp-Buffers"
)

// Exchange is what the two programs tell each other with a heartbeat.
type Exchange struct {
	Kill *KillSwitch
	// HTTP3 says whether HTTP/3 serves and answers on every address: ok, down, or off where it is served on none.
	HTTP3 func() string
	// Buffers gives the smallest buffers of all UDP sockets: bytes to receive, to send, and wanted of each. "" where there is no socket.
	Buffers func() string
}

// Ask asks the worker's internal listener whether it is there: GET /heartbeat, answered by a 2xx.
func (e Exchange) Ask(ctx context.Context, client *http.Client, t upstream.Target) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.URLHost()+"/heartbeat", nil)
	if err != nil {
		return err
	}
	e.Kill.announce(req.Header)
	req.Header.Set(http3Header, e.HTTP3())
	if buffers := e.Buffers(); buffers != "" {
		req.Header.Set(buffersHeader, buffers)
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 4<<10))
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	e.Kill.hear(res.Header)
	return nil
}
