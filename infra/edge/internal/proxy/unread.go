package proxy

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// patience ends a response whose client takes nothing of a write for too long. Meanwhile the server behind holds as much of the response
// as it reads ahead. A deadline of the server itself would run on while a quiet origin sends nothing, and costs HTTP/2's server two
// messages for each write: so a timer sets one, in the past, where a write has waited for long. Over HTTP/2 and HTTP/3 that ends the
// stream only. A client that reads nothing of a whole connection is HTTP/2's WriteByteTimeout's.
type patience struct {
	mu      sync.Mutex
	timer   *time.Timer // nil: no write yet
	waiting bool
}

func (p *patience) begin(w *responseWriter) {
	timeout := w.handler.options.UnreadTimeout
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = true
	if p.timer != nil {
		p.timer.Reset(timeout)
		return
	}
	p.timer = time.AfterFunc(timeout, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.waiting {
			w.handler.log.Report("client", fmt.Sprintf("a client did not take a response within %s: the response is ended", timeout))
			_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Unix(1, 0))
		}
	})
}

// end says that the client's transport took the bytes. Nobody touches the response any more.
func (p *patience) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = false
	p.timer.Stop()
}
