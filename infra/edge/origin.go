package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync/atomic"

	"adaptive-h3/infra/edge/internal/heartbeat"
)

var (
	// errOwnPath: the worker is gone, and what was asked for is the worker's own.
	errOwnPath = errors.New("the worker does not answer, and this path is its own")
	// errWorkerGone: it was found to be gone while a request waited for its answer.
	errWorkerGone = errors.New("the worker is gone")
)

// originFallback asks the worker, and while that is gone the origin itself, so that a visitor gets the origin's response
// whatever happens to the worker. A late page is no reason: the worker counts as gone when its heartbeat fails. What goes
// to the origin again is only what cannot act twice: a request that never reached the worker, and a GET or HEAD without a
// body that the worker did not answer.
type originFallback struct {
	worker  http.RoundTripper
	origin  *http.Transport
	url     *url.URL // the origin's scheme and host
	monitor *heartbeat.Monitor
	run     func(context.Context) // watches the heartbeat until its context ends
}

// parseOrigin reads http://HOST[:PORT] or https://HOST[:PORT].
func parseOrigin(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" ||
		(u.Path != "" && u.Path != "/") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it must be http://HOST[:PORT] or https://HOST[:PORT], without a path")
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// newOriginTransport makes a pool of connections to the origin, wherever it is.
func newOriginTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout}
	return newPool(upstreamIdle, dialer.DialContext, nil)
}

func (f *originFallback) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.monitor.Gone() {
		return f.askOrigin(req)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	asked := req.WithContext(ctx)
	var body *heldBody
	if hasBody(req) {
		body = &heldBody{ReadCloser: req.Body}
		asked.Body = body
	}
	again := body == nil && (req.Method == http.MethodGet || req.Method == http.MethodHead)
	forget, giveUp := func() {}, func() { cancel(errWorkerGone) }
	if again {
		forget = f.monitor.OnGone(giveUp)
	}
	res, err := f.worker.RoundTrip(asked)
	forget()
	if err == nil && context.Cause(ctx) == nil {
		// ctx must outlive this call, as the response's body still depends on it; it ends with the request's own.
		return res, nil
	}
	if err == nil {
		res.Body.Close() // it answered at the moment at which it was given up
	}
	cancel(nil)
	if req.Context().Err() != nil || (!again && !neverReached(err, body)) {
		return nil, err
	}
	return f.askOrigin(req)
}

// askOrigin sends the request as the worker would have sent it (testdata/origin-requests.json).
func (f *originFallback) askOrigin(req *http.Request) (*http.Response, error) {
	if workersOwn(req.URL) {
		return nil, errOwnPath
	}
	asked := req.Clone(req.Context())
	asked.URL.Scheme, asked.URL.Host = f.url.Scheme, f.url.Host
	asked.Host = f.url.Host
	asked.Header.Del(headerCF)
	res, err := f.origin.RoundTrip(asked)
	if err != nil {
		return nil, fmt.Errorf("the origin %s: %w", f.url.Host, err)
	}
	// An origin's own offer speaks of its own ports.
	res.Header.Del("Alt-Svc")
	return res, nil
}

// neverReached says whether a request failed before anything of it was sent.
func neverReached(err error, body *heldBody) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && (body == nil || !body.touched.Load())
}

func hasBody(r *http.Request) bool { return r.Body != nil && r.Body != http.NoBody }

// heldBody is a request body that stays open while nobody has read of it: the transport closes it also where it found no
// connection, and then the body is still wanted.
type heldBody struct {
	io.ReadCloser
	touched atomic.Bool
}

func (b *heldBody) Read(p []byte) (int, error) {
	b.touched.Store(true)
	return b.ReadCloser.Read(p)
}

func (b *heldBody) Close() error {
	if !b.touched.Load() {
		return nil
	}
	return b.ReadCloser.Close()
}

// ownPrefix is where the worker's API is: a request there may carry a token, which is nobody else's to see.
const ownPrefix = "/_h3"

// workersOwn says whether the worker might take a request for one of its own. The worker resolves dot segments and reads
// backslashes as slashes (WHATWG URL), so anything that comes to the prefix in any reading counts.
func workersOwn(u *url.URL) bool {
	raw := u.Opaque
	if raw == "" {
		raw = u.EscapedPath()
	}
	for range 3 { // twice escaped is as good as once
		clean := path.Clean("/" + strings.ReplaceAll(raw, `\`, "/"))
		if lower := strings.ToLower(clean); lower == ownPrefix || strings.HasPrefix(lower, ownPrefix+"/") {
			return true
		}
		raw = unescapeLeniently(raw)
	}
	return false
}

// unescapeLeniently decodes what are escapes, and leaves what only look like it.
func unescapeLeniently(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := url.PathUnescape(s[i : i+3]); err == nil {
				out.WriteString(c)
				i += 2
				continue
			}
		}
		if s[i] != '\t' && s[i] != '\n' && s[i] != '\r' { // a WHATWG URL has none
			out.WriteByte(s[i])
		}
	}
	return out.String()
}
