package origin

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"adaptive-h3/infra/edge/internal/upstream"
)

// askBeat asks the worker's internal listener whether it is there: GET /heartbeat, answered by a 2xx.
func askBeat(ctx context.Context, client *http.Client, t upstream.Target) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.URLHost()+"/heartbeat", nil)
	if err != nil {
		return err
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
	return nil
}
