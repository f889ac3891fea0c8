package main

import (
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

	"adaptive-h3/infra/edge/internal/hostile"
)

const (
	// attackers send at a time. Each has a connection of its own.
	attackers = 8
	// hangs is how long a connection may do nothing when nothing is to be waited for: the request is whole, or its client has ended.
	hangs = 10 * time.Second
	// quiet is how long an attacker waits for more, before it ends its side of a connection.
	quiet = 250 * time.Millisecond
	// examples is how many findings are printed. The others are only counted.
	examples = 100
)

// finding is what must not be. The same seed, and the inputs from First to Index, show it again.
type finding struct {
	Index    uint64 `json:"index"`
	First    uint64 `json:"first"`
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
	url    *url.URL
	tls    *tls.Config
	caFile string
	token  string
	seed   uint64
	// The inputs are those from from to before end.
	from, end uint64
	sent      atomic.Uint64
	progress  func(sent uint64)
	ending    sync.WaitGroup // connections that the server is to end

	mu sync.Mutex
	// mustCount has the clients of whose pages one may count, and whether one must.
	mustCount map[string]bool
	kept      []hostile.Input // reports of pages that counted
	summary
}

// reply is an answer, or what came in its place.
type reply struct {
	status int
	header http.Header // of calls in valid HTTP
	text   string
	instead,
	wrong string
}

// sender sends inputs of one protocol one after another, as far as possible over one connection. wrong says what must not be,
// besides the replies.
type sender interface {
	send(in hostile.Input) (replies []reply, wrong string)
	close()
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
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s", c.CA)
	}
	return &attack{
		url: site, caFile: c.CA, token: c.Token, seed: c.Seed, from: c.From, end: c.From + c.Count, progress: progress,
		tls:       &tls.Config{RootCAs: roots, ServerName: site.Hostname(), ClientSessionCache: tls.NewLRUClientSessionCache(64)},
		mustCount: map[string]bool{},
		summary:   summary{Inputs: map[string]map[string]int{}, Replies: map[string]map[string]int{}, Reports: reportSummary{Fates: map[string]int{}}, Findings: []finding{}},
	}, nil
}

// sendReports sends the inputs that are reports. They come first: later, calls of the API may keep pages from being asked.
func (a *attack) sendReports() {
	a.send(func(protocol string) bool { return protocol == "report" })
}

// sendOthers sends the other inputs, and sums everything up. o counts what of them reaches the origin.
func (a *attack) sendOthers(o *origin) summary {
	a.send(func(protocol string) bool { return protocol != "report" })
	a.ending.Wait()
	a.judgeOrigin(o, a.from, a.end)
	return a.summary
}

// send sends the inputs of some protocols.
func (a *attack) send(has func(protocol string) bool) {
	began := time.Now()
	var next atomic.Uint64
	next.Store(a.from)
	var all sync.WaitGroup
	for range attackers {
		all.Go(func() {
			for {
				first := next.Load()
				last := min(a.end, (first/hostile.Batch+1)*hostile.Batch)
				if first >= a.end {
					return
				}
				if next.CompareAndSwap(first, last) && has(hostile.ProtocolOf(first)) {
					a.batch(first, last)
					a.progress(a.sent.Add(last - first))
				}
			}
		})
	}
	all.Wait()
	a.Seconds += time.Since(began).Seconds()
}

// batch sends the inputs from first to before last.
func (a *attack) batch(first, last uint64) {
	var s sender
	for index := first; index < last; index++ {
		in := hostile.Make(a.seed, index)
		if s == nil {
			s = a.newSender(in)
			defer s.close()
		}
		replies, wrong := s.send(in)
		a.count(a.Inputs, in.Protocol, in.Kind)
		if wrong != "" {
			a.find(in, first, wrong)
		}
		for _, r := range replies {
			kind := r.instead
			if kind == "" {
				kind = fmt.Sprint(r.status)
			}
			a.count(a.Replies, in.Protocol, kind)
			if wrong := judgeReply(in, r); wrong != "" {
				a.find(in, first, wrong)
			}
		}
	}
}

func (a *attack) newSender(in hostile.Input) sender {
	switch in.Protocol {
	case "h1":
		return &senderH1{attack: a}
	case "h2":
		return &senderH2{attack: a}
	case "h3":
		return &senderH3{attack: a}
	case "report":
		return &senderReport{attack: a}
	default:
		return newSenderAPI(a, in.Call.Over, "")
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

func (a *attack) find(in hostile.Input, first uint64, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Found++
	if len(a.Findings) < examples {
		a.Findings = append(a.Findings, finding{Index: in.Index, First: first, Protocol: in.Protocol, Kind: in.Kind, What: what})
	}
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
func judgeReply(in hostile.Input, r reply) string {
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
		if index, what, ok := hostile.ReadMark(found[1]); ok && (index != in.Index || what == hostile.Inner) {
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
func (a *attack) judgeOrigin(o *origin, from, end uint64) {
	o.hostile.mu.Lock()
	defer o.hostile.mu.Unlock()
	for _, index := range o.hostile.inner {
		a.find(hostile.Make(a.seed, index), index-index%hostile.Batch, "what was in a body or a field came to the origin as a request")
	}
	for index, times := range o.hostile.seen {
		if index < from || index >= end {
			continue
		}
		if in := hostile.Make(a.seed, index); in.Requests >= 0 && times > in.Requests {
			a.find(in, index-index%hostile.Batch, fmt.Sprintf("%d requests were sent, and %d reached the origin", in.Requests, times))
		}
	}
}
