package upstream

import (
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

func TestHeaderWait(t *testing.T) {
	expired := make(chan struct{}, 1)
	w := newHeaderWait(time.Hour, func() { expired <- struct{}{} })
	w.run(false)
	w.timeout = 1
	w.run(true)
	edgetest.Receive(t, "end of the time", expired)
	// After the end nothing runs any more.
	w.end()
	w.run(true)
	if w.timer.Stop() {
		t.Error("the clock runs after its end")
	}
}
