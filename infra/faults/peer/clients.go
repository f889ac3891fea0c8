package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

const (
	requestTimeout = 20 * time.Second
	// quicIdle is how soon a client gives up a QUIC connection on which it hears nothing. It is longer than any pause that a
	// fault makes.
	quicIdle = 6 * time.Second
	// perConnection is how many requests a client sends over a connection before it makes another.
	perConnection = 60
	// addresses is how many addresses the clients have.
	addresses = 5_000
)

// shape says how many connections of a protocol there are, and how many requests at a time on each.
var shape = []struct {
	protocol            string
	connections, inEach int
}{{"h1", 12, 1}, {"h2", 6, 3}, {"h3", 6, 3}}

// record is what is printed of one request. Times are Unix milliseconds.
type record struct {
	Protocol string  `json:"protocol"`
	Kind     string  `json:"kind"` // get, head, post, page, lie
	Path     string  `json:"path"`
	Began    float64 `json:"began"`
	Ended    float64 `json:"ended"`
	// Connected is when the connection was made; 0: there was none.
	Connected float64 `json:"connected"`
	// Answered is when the origin began to answer; 0: it did not.
	Answered float64 `json:"answered"`
	Outcome  string  `json:"outcome"`
	What     string  `json:"what,omitempty"`
	Status   int     `json:"status"`
	// BeyondMs is the time that the answer took, without the time that the origin took.
	BeyondMs float64 `json:"beyondMs"`
	// Decided: the answer has an Alt-Svc.
	Decided bool `json:"decided"`
	// Attempts is how often the client's library sent the request: it repeats a request on a connection that had ended.
	Attempts int `json:"attempts"`
}

// load keeps the clients going.
type load struct {
	site, caFile string
	origin       *origin
	tokens       chan struct{} // each lets one request go
	print        func(any)
	ids          atomic.Uint64
	lies         atomic.Int64 // percent of the requests
	seed         uint64
}

func unixMs(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

// run sends requests until ctx ends, and returns when all are answered.
func (l *load) run(ctx context.Context, perSecond int) {
	var all sync.WaitGroup
	for _, s := range shape {
		for i := range s.connections {
			random := rand.New(rand.NewPCG(l.seed, uint64(len(s.protocol)+int(s.protocol[1])*1000+i)))
			all.Go(func() {
				for ctx.Err() == nil {
					l.connection(ctx, s.protocol, s.inEach, random)
				}
			})
		}
	}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	began, sent := time.Now(), 0
	for ctx.Err() == nil {
		<-ticker.C
		for due := int(time.Since(began).Seconds() * float64(perSecond)); sent < due; sent++ {
			select {
			case l.tokens <- struct{}{}:
			default: // all clients wait: what they miss is not made up for
			}
		}
	}
	all.Wait()
}

// connection makes a client with one connection, and sends requests over it.
func (l *load) connection(ctx context.Context, protocol string, inEach int, random *rand.Rand) {
	var connected atomic.Int64
	transport, end, err := newTransport(connecting{
		protocol: protocol, caFile: l.caFile, dialTimeout: requestTimeout, idleTimeout: quicIdle, from: address(random),
		onConnect: func() { connected.Store(time.Now().UnixMicro()) },
	})
	if err != nil {
		panic(err)
	}
	defer end()
	var streams sync.WaitGroup
	for range inEach {
		own := rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
		streams.Go(func() {
			for range perConnection / inEach {
				select {
				case <-ctx.Done():
					return
				case <-l.tokens:
				}
				r := l.request(transport, protocol, own, &connected)
				l.print(r)
				if r.Outcome == refused {
					time.Sleep(100 * time.Millisecond)
				}
			}
		})
	}
	streams.Wait()
}

// address draws the address of a client.
func address(random *rand.Rand) string {
	i := random.IntN(addresses)
	return fmt.Sprintf("127.1.%d.%d", i>>8, i&255)
}

var sizes = []int{0, 1, 100, 1_400, 16_000, 16_000, 65_536, 200_000}

// plan draws a request.
func (l *load) plan(random *rand.Rand) (method, kind, path string, body []byte) {
	id := l.ids.Add(1)
	size := sizes[random.IntN(len(sizes))]
	if random.IntN(100) < int(l.lies.Load()) {
		return http.MethodGet, "lie", fmt.Sprintf("/lie/%s/%d/%d", lies[random.IntN(len(lies))], size, id), nil
	}
	switch draw := random.IntN(100); {
	case draw < 45:
		return http.MethodGet, "get", fmt.Sprintf("/get/%d/%d", size, id), nil
	case draw < 48:
		return http.MethodGet, "get", fmt.Sprintf("/missing/%d/%d", size, id), nil
	case draw < 50:
		return http.MethodGet, "get", fmt.Sprintf("/unwell/%d/%d", size, id), nil
	case draw < 52:
		return http.MethodGet, "get", fmt.Sprintf("/get/2000000/%d", id), nil
	case draw < 60:
		return http.MethodHead, "head", fmt.Sprintf("/get/%d/%d", size, id), nil
	case draw < 75:
		path = fmt.Sprintf("/echo/0/%d", id)
		return http.MethodPost, "post", path, bytesOf(path, size+1)
	default:
		return http.MethodGet, "page", fmt.Sprintf("/page/%d/%d", size, id), nil
	}
}

// request sends one request and judges its answer.
func (l *load) request(transport http.RoundTripper, protocol string, random *rand.Rand, connected *atomic.Int64) record {
	method, kind, path, body := l.plan(random)
	r := record{Protocol: protocol, Kind: kind, Path: path}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	var attempts atomic.Int32
	// The connection of this request. Another request may have made another one before this one ends.
	var over atomic.Int64
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		attempts.Add(1)
		over.Store(connected.Load())
	}})
	var sent io.Reader
	digest := ""
	if body != nil {
		// A reader that cannot be had again, so that the library cannot send the body twice.
		sent = io.MultiReader(bytes.NewReader(body))
		sum := sha256.Sum256(body)
		digest = hex.EncodeToString(sum[:])
	}
	request, err := http.NewRequestWithContext(ctx, method, l.site+path, sent)
	if err != nil {
		panic(err)
	}
	request.ContentLength = int64(len(body))
	if kind == "page" {
		request.Header = http.Header{
			"Accept":         {"text/html,application/xhtml+xml,*/*;q=0.8"},
			"Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Site": {"none"},
		}
	}
	began := time.Now()
	g := got{length: -1}
	response, err := transport.RoundTrip(request)
	g.err = err
	if err == nil {
		g.status, g.header, g.length = response.StatusCode, response.Header, response.ContentLength
		g.body, g.err = io.ReadAll(response.Body)
		_ = response.Body.Close()
	}
	ended := time.Now()
	r.Outcome, r.What = judge(method, answerTo(method, path, digest), g)
	r.Attempts = int(attempts.Load())
	if r.Attempts == 0 && r.Outcome == aborted {
		r.Outcome = refused
	}
	r.Status, r.Decided = g.status, g.header.Get("Alt-Svc") != ""
	r.Began, r.Ended, r.Connected = unixMs(began), unixMs(ended), float64(over.Load())/1000
	r.BeyondMs = float64(ended.Sub(began).Microseconds()) / 1000
	if answered, ok := l.origin.answered.LoadAndDelete(path); ok {
		first := answered.(beginning)
		r.Answered = unixMs(first.at)
		r.BeyondMs -= float64(first.after.Microseconds()) / 1000
	}
	return r
}
