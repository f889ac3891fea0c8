package upstream

import (
	"context"
	"net"
	"net/http"
	"time"
)

// dialer opens a connection, as net.Dialer.DialContext does.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

const (
	// MaxIdle is the number of idle connections that a pool keeps for visitors' requests: enough for a load test's
	// concurrency, and far below the usual limits on open files.
	MaxIdle = 512
	// DialTimeout bounds the time to open a connection.
	DialTimeout = 5 * time.Second
	// workerd (KJ's HttpServerSettings.pipelineTimeout) closes a connection that was idle for 5 s. Dropping it before
	// avoids the race in which a request that cannot be sent twice goes out on a connection that is being closed.
	idleTimeout = 4 * time.Second
	// ExpectPatience is how long a body waits for the server's word where its visitor waits for 100 (Continue): not every server knows
	// that expectation (RFC 9110, section 10.1.1). Clients that do not wait for ever wait for up to 3 s.
	ExpectPatience = 3 * time.Second
)

// NewTransport makes a keep-alive pool of connections to t, with at most idle connections at rest.
func NewTransport(t Target, idle int) *http.Transport {
	return newTransport(idle, t.Dial, nil)
}

func newTransport(idle int, dial dialer, connected func(net.Conn)) *http.Transport {
	return &http.Transport{
		Proxy: nil, // the environment's proxy is for requests that leave this machine
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			if connected != nil {
				connected(c)
			}
			return newPatientConn(c), nil
		},
		MaxIdleConns:        idle,
		MaxIdleConnsPerHost: idle,
		IdleConnTimeout:     idleTimeout,
		// Otherwise the transport adds an Accept-Encoding, and decompresses the answer.
		DisableCompression:    true,
		ExpectContinueTimeout: ExpectPatience,
		ForceAttemptHTTP2:     false,
		ReadBufferSize:        32 << 10,
		WriteBufferSize:       16 << 10,
	}
}
