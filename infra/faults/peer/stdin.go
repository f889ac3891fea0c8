package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"time"
)

// asking is one line of standard input: a request as it is to be sent.
type asking struct {
	ID      int         `json:"id"`
	Server  string      `json:"server"` // HOST:PORT
	Host    string      `json:"host"`
	Method  string      `json:"method"`
	Target  string      `json:"target"`
	Headers [][2]string `json:"headers"`
	Body    []byte      `json:"body"`   // base64
	Length  bool        `json:"length"` // say it before the body
}

// answering is what came back, headers in any order.
type answering struct {
	ID       int         `json:"id"`
	Status   int         `json:"status"`
	Headers  [][2]string `json:"headers"`
	Interim  []int       `json:"interim"`
	Trailers [][2]string `json:"trailers"`
	Body     []byte      `json:"body"`
	Error    string      `json:"error,omitempty"`
}

// answerAll sends each request of in, many at a time, and prints its answer to out.
func answerAll(transport http.RoundTripper, timeout time.Duration, in io.Reader, out io.Writer) error {
	var printing sync.Mutex
	var all sync.WaitGroup
	defer all.Wait()
	encoder := json.NewEncoder(out)
	for decoder := json.NewDecoder(in); ; {
		var a asking
		if err := decoder.Decode(&a); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading: %w", err)
		}
		all.Go(func() {
			got := sendAsked(transport, timeout, a)
			printing.Lock()
			defer printing.Unlock()
			_ = encoder.Encode(got)
		})
	}
}

func sendAsked(transport http.RoundTripper, timeout time.Duration, a asking) (got answering) {
	got = answering{ID: a.ID, Headers: [][2]string{}, Interim: []int{}, Trailers: [][2]string{}, Body: []byte{}}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(status int, _ textproto.MIMEHeader) error {
		got.Interim = append(got.Interim, status)
		return nil
	}})
	request := (&http.Request{
		Method: a.Method, URL: &url.URL{Scheme: "https", Host: a.Server, Opaque: a.Target}, Host: a.Host,
		// Without an entry the transport would add its own.
		Header: http.Header{"User-Agent": nil},
	}).WithContext(ctx)
	if strings.HasPrefix(a.Target, "//") {
		// net/url takes an opaque part that begins so for a host.
		path, query, _ := strings.Cut(a.Target, "?")
		request.URL.Opaque, request.URL.RawPath, request.URL.RawQuery = "", path, query
		request.URL.Path, _ = url.PathUnescape(path)
	}
	for _, field := range a.Headers {
		name := http.CanonicalHeaderKey(field[0])
		request.Header[name] = append(request.Header[name], latin1Bytes(field[1]))
	}
	if len(a.Body) > 0 {
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(a.Body)), -1
		if a.Length {
			request.ContentLength = int64(len(a.Body))
		}
	}
	response, err := transport.RoundTrip(request)
	if err == nil {
		defer response.Body.Close()
		got.Status, got.Headers = response.StatusCode, fieldsOf(response.Header)
		got.Body, err = io.ReadAll(response.Body)
		got.Trailers = fieldsOf(response.Trailer)
	}
	if err != nil {
		got.Error = err.Error()
	}
	return got
}

func fieldsOf(h http.Header) [][2]string {
	list := [][2]string{}
	for name, values := range h {
		for _, value := range values {
			// JSON has no bytes above 0x7f: each goes as one character.
			list = append(list, [2]string{name, latin1(value)})
		}
	}
	return list
}

func latin1Bytes(s string) string {
	var to []byte
	for _, r := range s {
		to = append(to, byte(r))
	}
	return string(to)
}

func latin1(s string) string {
	var to strings.Builder
	for i := range len(s) {
		to.WriteRune(rune(s[i]))
	}
	return to.String()
}
