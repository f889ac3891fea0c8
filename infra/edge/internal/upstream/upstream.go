// Package upstream reaches the server behind the edge: its address, a pool of connections to it, the time that it has for
// an answer, and how many requests its process can hold. It knows nothing about visitors. Of this module it imports
// admission and errorlog; of other modules, x/sys.
package upstream

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
)

// Target is an HTTP/1.1 server that the edge talks to, over TCP or over a Unix socket. The zero Target names no server.
type Target struct {
	Network string // "tcp" or "unix"
	Address string // HOST:PORT, or the socket's path
}

// ParseTarget reads http://HOST:PORT or unix:/path. Its error says what is allowed.
func ParseTarget(s string) (Target, error) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok && path != "" {
		return Target{Network: "unix", Address: path}, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || u.Port() == "" || strings.TrimSuffix(s, "/") != "http://"+u.Host {
		return Target{}, errors.New("it must be http://HOST:PORT without a path, or unix:/path")
	}
	return Target{Network: "tcp", Address: u.Host}, nil
}

// URLHost returns the host of URLs for this target. Nothing looks it up: the transport dials the target whatever it says.
func (t Target) URLHost() string {
	if t.Network == "unix" {
		return "localhost"
	}
	return t.Address
}

// Dial opens a connection to t, whatever address a transport asks for.
func (t Target) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return (&net.Dialer{Timeout: DialTimeout}).DialContext(ctx, t.Network, t.Address)
}
