package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// target is an HTTP/1.1 server that the edge talks to, over TCP or over a Unix socket. The zero target is none.
type target struct {
	network string // "tcp" or "unix"
	address string // HOST:PORT, or the socket's path
}

// parseTarget reads http://HOST:PORT or unix:/path.
func parseTarget(s string) (target, error) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok && path != "" {
		return target{network: "unix", address: path}, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.Port() == "" ||
		(u.Path != "" && u.Path != "/") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return target{}, errors.New("it must be http://HOST:PORT without a path, or unix:/path")
	}
	return target{network: "tcp", address: u.Host}, nil
}

// urlHost is what stands in URLs for this target. Nothing looks it up: the transport dials the target whatever it says.
func (t target) urlHost() string {
	if t.network == "unix" {
		return "localhost"
	}
	return t.address
}

const (
	dialTimeout = 5 * time.Second
	// workerd (KJ's HttpServerSettings.pipelineTimeout) closes a connection that was idle for 5 s. Dropping it before
	// avoids the race in which a request that cannot be sent twice goes out on a connection that is being closed.
	upstreamIdleTimeout = 4 * time.Second
)

// dial opens a connection to t.
func (t target) dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, t.network, t.address)
}

// newTransport makes a keep-alive pool to t with at most idle connections at rest. connected, if not nil, sees each new
// connection.
func newTransport(t target, idle int, connected func(net.Conn)) *http.Transport {
	return newPool(idle, func(ctx context.Context, _, _ string) (net.Conn, error) { return t.dial(ctx) }, connected)
}

// newPool makes a keep-alive pool of connections that dial opens.
func newPool(idle int, dial func(ctx context.Context, network, address string) (net.Conn, error), connected func(net.Conn)) *http.Transport {
	return &http.Transport{
		Proxy: nil, // the environment's proxy is for leaving this machine
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
		IdleConnTimeout:     upstreamIdleTimeout,
		// Otherwise an Accept-Encoding is invented and the answer decompressed.
		DisableCompression:    true,
		ExpectContinueTimeout: time.Second,
		ForceAttemptHTTP2:     false,
		ReadBufferSize:        32 << 10,
		WriteBufferSize:       16 << 10,
	}
}
