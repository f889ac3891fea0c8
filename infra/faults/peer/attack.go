package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// attackers send at a time. Each input has a connection of its own.
	attackers = 8
	// hangs is how long a connection may do nothing when nothing is to be waited for: the request is whole, or its client has ended.
	hangs = 10 * time.Second
	// quiet is how long an attacker waits for more, before it ends its side of a connection.
	quiet = 250 * time.Millisecond
	// examples is how many findings are printed. The others are only counted.
	examples = 100
)

// finding is what must not be. The same seed and index show it again.
type finding struct {
	Index    uint64 `json:"index"`
	Protocol string `json:"protocol"`
	Kind     string `json:"kind"`
	What     string `json:"what"`
}

// summary is what is printed of an attack.
type summary struct {
	// Inputs counts by protocol and kind, Replies by protocol and status, or by what came in the place of one.
	Inputs   map[string]map[string]int `json:"inputs"`
	Replies  map[string]map[string]int `json:"replies"`
	Reports  reportSummary             `json:"reports"`
	Found    int                       `json:"found"`
	Findings []finding                 `json:"findings"`
	Seconds  float64                   `json:"seconds"`
}

// attack sends hostile inputs, and judges what comes back.
type attack struct {
	command
	url      *url.URL
	tls      *tls.Config
	sent     atomic.Uint64
	progress func(sent uint64)

	mu sync.Mutex
	// mustCount has the clients of whose pages one may count, and whether one must.
	mustCount map[string]bool
	kept      []input // reports of pages that counted
	summary
}

// reply is an answer, or what came in its place.
type reply struct {
	status int
	header http.Header // of what is valid HTTP
	text   string
	instead,
	wrong string
}

func newAttack(c command, progress func(sent uint64)) (*attack, error) {
	site, err := url.Parse(c.Site)
	if err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(c.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &attack{
		command: c, url: site, progress: progress, mustCount: map[string]bool{},
		tls:     &tls.Config{RootCAs: roots, ServerName: site.Hostname(), ClientSessionCache: tls.NewLRUClientSessionCache(64)},
		summary: summary{Inputs: map[string]map[string]int{}, Replies: map[string]map[string]int{}, Reports: reportSummary{Fates: map[string]int{}}, Findings: []finding{}},
	}, nil
}

// send sends all inputs.
func (a *attack) send() {
	began := time.Now()
	var next atomic.Uint64
	next.Store(a.From)
	var all sync.WaitGroup
	for range attackers {
		all.Go(func() {
			for index := next.Add(1) - 1; index < a.From+a.Count; index = next.Add(1) - 1 {
				a.one(makeInput(a.Seed, index))
				if sent := a.sent.Add(1); sent%inARow == 0 {
					a.progress(sent)
				}
			}
		})
	}
	all.Wait()
	a.Seconds = time.Since(began).Seconds()
}

func (a *attack) one(in input) {
	send := map[string]func(input) ([]reply, string){"h1": a.sendH1, "h2": a.sendH2, "h3": a.sendH3, "report": a.sendReport}[in.protocol]
	replies, wrong := send(in)
	a.count(a.Inputs, in.protocol, in.kind)
	if wrong != "" {
		a.find(in, wrong)
	}
	for _, r := range replies {
		kind := r.instead
		if kind == "" {
			kind = fmt.Sprint(r.status)
		}
		a.count(a.Replies, in.protocol, kind)
		if wrong := judgeReply(in, r); wrong != "" {
			a.find(in, wrong)
		}
	}
}

func (a *attack) count(of map[string]map[string]int, protocol, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if of[protocol] == nil {
		of[protocol] = map[string]int{}
	}
	of[protocol][name]++
}

func (a *attack) find(in input, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Found++
	if len(a.Findings) < examples {
		a.Findings = append(a.Findings, finding{in.index, in.protocol, in.kind, what})
	}
}

// dial makes a TLS connection that speaks a protocol.
func (a *attack) dial(protocol string) (*tls.Conn, error) {
	config := a.tls.Clone()
	config.NextProtos = []string{protocol}
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", a.url.Host)
	if err != nil {
		return nil, err
	}
	return conn.(*tls.Conn), nil
}

// documented are the answers above 500 that docs/transparency.md names.
var documented = map[int][]string{
	501: {"CONNECT is not supported", "Unrecognized request method", "transfer encoding"},
	505: {"protocol version"},
}

// stack is what a stack trace of Go or JavaScript looks like.
var stack = regexp.MustCompile(`goroutine \d+ \[|\w\.go:\d+|\n\s+at [^\n]+:\d+:\d+|panic: `)

var answered = regexp.MustCompile(hostileAnswer + `(\S+)`)

// judgeReply says what is wrong with a reply. "" is right.
func judgeReply(in input, r reply) string {
	if r.wrong != "" {
		return r.wrong
	}
	answers := answered.FindAllStringSubmatch(r.text, -1)
	if r.status >= 500 && len(answers) == 0 && !isDocumented(r) {
		return fmt.Sprintf("a %d of ours: %.300q", r.status, r.text)
	}
	if stack.MatchString(r.text) {
		return fmt.Sprintf("a stack trace in a %d: %.300q", r.status, r.text)
	}
	for _, found := range answers {
		if index, what, ok := readMark(found[1]); ok && (index != in.index || what == inner) {
			return "another request's answer: " + found[1]
		}
	}
	return ""
}

func isDocumented(r reply) bool {
	for _, text := range documented[r.status] {
		if strings.Contains(r.text, text) {
			return true
		}
	}
	return false
}

// judgeOrigin says which requests reached the origin that nobody sent.
func (a *attack) judgeOrigin(o *origin) {
	o.hostile.mu.Lock()
	defer o.hostile.mu.Unlock()
	for _, index := range o.hostile.inner {
		a.find(makeInput(a.Seed, index), "what was in a body or a field came to the origin as a request")
	}
	for index, times := range o.hostile.seen {
		if in := makeInput(a.Seed, index); in.requests >= 0 && times > in.requests {
			a.find(in, fmt.Sprintf("%d requests were sent, and %d reached the origin", in.requests, times))
		}
	}
}
