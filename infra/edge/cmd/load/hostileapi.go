package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"adaptive-h3/infra/edge/internal/client"
	"adaptive-h3/infra/edge/internal/hostile"
)

// senderAPI sends calls in valid HTTP.
type senderAPI struct {
	attack    *attack
	transport http.RoundTripper
	end       func()
}

// newSenderAPI makes a sender for one version of HTTP, which connects from an address; "": the system's choice.
func newSenderAPI(a *attack, protocol, from string) *senderAPI {
	transport, end, err := client.New(client.Options{Protocol: protocol, CAFile: a.caFile, DialTimeout: hangs, IdleTimeout: quicIdle, From: from})
	if err != nil {
		panic(err)
	}
	return &senderAPI{attack: a, transport: transport, end: end}
}

func (s *senderAPI) close() { s.end() }

func (s *senderAPI) send(in hostile.Input) ([]reply, string) {
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	// Go's client sends a request again whose stream was reset, for half a minute. The first time is enough.
	var attempts atomic.Int32
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		if attempts.Add(1) > 1 {
			cancel()
		}
	}})
	path, query, _ := strings.Cut(in.Call.Target, "?")
	request := &http.Request{
		Method: in.Call.Method, Host: s.attack.url.Host, Header: in.Call.Header,
		URL:  &url.URL{Scheme: "https", Host: s.attack.url.Host, Opaque: path, RawQuery: query},
		Body: io.NopCloser(bytes.NewReader(in.Call.Body)), ContentLength: int64(len(in.Call.Body)),
	}
	if in.Call.Body == nil {
		request.Body = nil
	}
	if in.Call.Unsized {
		request.ContentLength = -1
	}
	if in.Call.Token {
		request.Header.Set("Authorization", "Bearer "+s.attack.token)
	}
	response, err := s.transport.RoundTrip(request.WithContext(ctx))
	var body []byte
	status := 0
	if err == nil {
		status = response.StatusCode
		body, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Sprintf("%s %s was not answered within %v", in.Call.Method, in.Call.Target, hangs)
	case err != nil:
		// Go's servers of HTTP/2 and HTTP/3 reset the stream of a request whose target they cannot read. All other calls are valid HTTP.
		if _, badTarget := url.ParseRequestURI(in.Call.Target); badTarget == nil {
			return nil, fmt.Sprintf("%s %.100s has no answer: %v", in.Call.Method, in.Call.Target, err)
		}
		return []reply{{instead: "reset"}}, ""
	}
	return []reply{{status: status, header: response.Header, text: string(body)}}, ""
}
