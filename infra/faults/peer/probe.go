package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// loaded is what is printed of one URL. A load that broke has an error and what had arrived until then.
type loaded struct {
	Protocol string      `json:"protocol"`
	Status   int         `json:"status"`
	Headers  http.Header `json:"headers"`
	Bytes    int64       `json:"bytes"`
	SHA256   string      `json:"sha256"`
	// From the request, connection setup included, to the last byte, milliseconds.
	Ms    float64 `json:"ms"`
	Error string  `json:"error,omitempty"`
}

type probing struct {
	protocol   string
	caFile     string
	from       string
	resting    int
	headers    http.Header
	postBytes  int64
	leaveAfter int64
	timeout    time.Duration
	stdin      bool
}

// probe loads URLs one after another over one connection of one protocol, closes it, and prints a line of JSON for each.
// It never follows Alt-Svc or a redirect and never retries: what it reports is what one connection saw.
func probe(args []string) error {
	opts := probing{headers: http.Header{}}
	flags := flag.NewFlagSet("probe", flag.ExitOnError)
	flags.StringVar(&opts.protocol, "protocol", "h2", "h1, h2 or h3")
	flags.StringVar(&opts.caFile, "ca", "", "PEM file of the certificate to trust; without it the system's")
	flags.StringVar(&opts.from, "from", "", "one `ADDRESS` of this machine to connect from")
	flags.IntVar(&opts.resting, "resting", 0, "load the URLs over `N` connections, and let them all rest until standard input ends")
	flags.Func("header", "a request header, 'Name: value'; repeatable", func(text string) error {
		name, value, found := strings.Cut(text, ":")
		if !found || name == "" {
			return errors.New("must be 'Name: value'")
		}
		opts.headers.Add(name, strings.TrimSpace(value))
		return nil
	})
	flags.Int64Var(&opts.postBytes, "post-bytes", 0, "POST a body of so many bytes instead of a GET")
	flags.Int64Var(&opts.leaveAfter, "leave-after", 0, "go away after so many bytes of the response")
	flags.DurationVar(&opts.timeout, "timeout", 30*time.Second, "what all loads together may take, or each request of -stdin")
	flags.BoolVar(&opts.stdin, "stdin", false, "send the requests of standard input instead, a line of JSON each, many at a time")
	_ = flags.Parse(args)
	return opts.run(flags.Args(), os.Stdout)
}

func (opts probing) run(urls []string, out io.Writer) error {
	if len(urls) == 0 && !opts.stdin {
		return errors.New("name at least one URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), opts.timeout)
	defer cancel()
	encoder := json.NewEncoder(out)
	for range max(1, opts.resting) {
		transport, closeTransport, err := newTransport(connecting{protocol: opts.protocol, caFile: opts.caFile, dialTimeout: opts.timeout, from: opts.from})
		if err != nil {
			return err
		}
		defer closeTransport()
		if opts.stdin {
			return answerAll(transport, opts.timeout, os.Stdin, out)
		}
		for _, url := range urls {
			if err := encoder.Encode(loadOne(ctx, transport, url, opts)); err != nil {
				return fmt.Errorf("printing: %w", err)
			}
		}
	}
	if opts.resting > 0 {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	return nil
}

func loadOne(ctx context.Context, transport http.RoundTripper, url string, opts probing) loaded {
	ctx, cancel := context.WithCancel(ctx)
	// A load that is left is one that is cancelled, and nothing more of it is read.
	defer cancel()
	began := time.Now()
	result := loaded{Protocol: opts.protocol, Headers: http.Header{}}
	finish := func(err error) loaded {
		result.Ms = float64(time.Since(began).Microseconds()) / 1000
		if err != nil {
			result.Error = err.Error()
		}
		return result
	}

	method, body := http.MethodGet, io.Reader(nil)
	if opts.postBytes > 0 {
		method, body = http.MethodPost, io.LimitReader(repeated('b'), opts.postBytes)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return finish(err)
	}
	request.ContentLength = opts.postBytes
	for name, values := range opts.headers {
		request.Header[name] = values
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return finish(err)
	}
	defer response.Body.Close()
	result.Status, result.Headers = response.StatusCode, response.Header
	hash := sha256.New()
	var content io.Reader = response.Body
	if opts.leaveAfter > 0 {
		content = io.LimitReader(content, opts.leaveAfter)
	}
	result.Bytes, err = io.Copy(hash, content)
	result.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return finish(err)
}

// repeated reads as one byte without end.
type repeated byte

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}
