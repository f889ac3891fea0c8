package upstream

import (
	"context"
	"net"
	"net/http"
	"time"
)

const (
	// MaxIdle is the number of idle connections that a pool keeps for visitors' requests: enough for a load test's
	// concurrency, and far below the usual limits on open files.
	MaxIdle = 512
	// DialTimeout bounds the time to open a connection.
	DialTimeout = 5 * time.Second
	// workerd (KJ's HttpServerSettings.pipelineTimeout) closes a connection that was idle for 5 s. Dropping it before
	// avoids the race in which a request that cannot be sent twice goes out on a connection that is being closed.
	idleTimeout = 4 * time.Second
)

// NewTransport makes a keep-alive pool of connections to t, with at most idle connections at rest. connected, if not nil,
// sees each new connection.
func NewTransport(t Target, idle int, connected func(net.Conn)) *http.Transport {
	return NewPool(idle, func(ctx context.Context, _, _ string) (net.Conn, error) { return t.dial(ctx) }, connected)
}

// NewPool makes a keep-alive pool of connections that dial opens, otherwise as NewTransport.
func NewPool(idle int, dial func(ctx context.Context, network, address string) (net.Conn, error), connected func(net.Conn)) *http.Transport {
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
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     false,
		ReadBufferSize:        32 << 10,
		WriteBufferSize:       16 << 10,
	}
}
