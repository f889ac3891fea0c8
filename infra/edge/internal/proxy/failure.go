package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"adaptive-h3/infra/edge/internal/origin"
	"adaptive-h3/infra/edge/internal/upstream"
)

// fail answers a request that the upstream did not answer.
func (p *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	var timeout net.Error
	var tooLarge *http.MaxBytesError
	failure := w.(*responseWriter).body.failure()
	timedOut := errors.Is(context.Cause(r.Context()), errTimeout)
	switch {
	case errors.Is(failure, os.ErrDeadlineExceeded):
		// Over HTTP/1.1 a read that failed cancels the context too, although the visitor has not left. The connection ends
		// with this answer (RFC 9110, section 15.5.9).
		if r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close")
		}
		writeError(w, http.StatusRequestTimeout, "the request body paused for too long, or came too slowly")
	case errors.As(err, &tooLarge):
		writeAPIBodyTooLarge(w)
	case r.Context().Err() != nil && !timedOut:
		// The visitor left; nobody reads this, but the stream must not end as if all were well.
		panic(http.ErrAbortHandler)
	case failure != nil:
		writeError(w, http.StatusBadRequest, "the request body could not be read")
	case errors.Is(err, origin.ErrOwnPath):
		writeUnavailable(w, err.Error())
	case timedOut, errors.As(err, &timeout) && timeout.Timeout():
		p.reportUpstream(err)
		writeError(w, http.StatusGatewayTimeout, "the server behind this one did not answer in time")
	default:
		p.reportUpstream(err)
		writeError(w, http.StatusBadGateway, "the server behind this one cannot be reached")
	}
}

// reportUpstream says who gave no answer, and why.
func (p *Handler) reportUpstream(err error) {
	who := p.options.Upstream.Address
	var ofOrigin *origin.Error
	if errors.As(err, &ofOrigin) {
		who, err = "the origin "+ofOrigin.Host, ofOrigin.Err
	}
	p.log.Report("upstream", fmt.Sprintf("%s: %v", who, upstream.Describe(err)))
}

func writeError(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "%d %s: %s\n", status, http.StatusText(status), reason)
}

// writeUnavailable refuses a request that may succeed a moment later.
func writeUnavailable(w http.ResponseWriter, reason string) {
	w.Header().Set("Retry-After", "1")
	writeError(w, http.StatusServiceUnavailable, reason)
}
