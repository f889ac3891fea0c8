package origin

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"adaptive-h3/infra/edge/internal/upstream"
)

// undecidedFor is how long every answer may come without the worker before that is a problem. A start of workerd takes less.
const undecidedFor = time.Minute

// undecided knows since when nobody decides though visitors ask: the fallback answers them, so that nobody else would notice.
type undecided struct {
	requests    atomic.Uint64 // that the edge sent to the origin itself
	since, last atomic.Int64  // the first and the last of them since an answer of the worker, Unix nanoseconds; 0: none
}

// asked sees a request that goes to the origin without the worker.
func (u *undecided) asked(now time.Time) {
	u.requests.Add(1)
	u.last.Store(now.UnixNano())
	u.since.CompareAndSwap(0, now.UnixNano())
}

// answered sees an answer that the worker had from the origin.
func (u *undecided) answered() {
	if u.since.Load() != 0 {
		u.since.Store(0)
	}
}

// tooLong says whether nobody decided for a minute though requests came.
func (u *undecided) tooLong() bool {
	since := u.since.Load()
	return since != 0 && time.Duration(u.last.Load()-since) >= undecidedFor
}

// Requests is how many requests the edge sent to the origin itself since the start.
func (f *Fallback) Requests() uint64 { return f.undecided.requests.Load() }

// Problems says what is wrong with the way to the origin, a sentence each. It makes a TLS handshake with an https origin.
func (f *Fallback) Problems(ctx context.Context) []string {
	var problems []string
	if f.undecided.tooLong() {
		problems = append(problems, "for a minute or longer no request got an answer by the worker: the origin is asked instead, and nobody decides")
	}
	if err := handshake(ctx, f.url); err != nil {
		problems = append(problems, fmt.Sprintf("no TLS with the origin %s: %v", f.url.Host, err))
	}
	return problems
}

// handshake makes a TLS connection as requests do, which trust what the machine trusts (SSL_CERT_FILE, as workerd). Nothing to do for http.
func handshake(ctx context.Context, origin *url.URL) error {
	if origin.Scheme != "https" {
		return nil
	}
	address := origin.Host
	if origin.Port() == "" {
		address = net.JoinHostPort(origin.Hostname(), "443")
	}
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: upstream.DialTimeout}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
