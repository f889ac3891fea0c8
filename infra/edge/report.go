package main

import (
	"fmt"
	"io"
	"log"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// reporter writes errors to stderr: one line each, at most one a second of a kind (an upstream that is down fails every
// request), and without client addresses, which are personal data that this system stores nowhere.
type reporter struct {
	mu         sync.Mutex
	out        io.Writer
	now        func() time.Time
	own        []string             // addresses that may be named: the servers that this program talks to
	last       map[string]time.Time // by kind; kinds are constants of this program
	suppressed map[string]int
}

const reportInterval = time.Second

func newReporter(out io.Writer, own ...string) *reporter {
	return &reporter{out: out, now: time.Now, own: own, last: map[string]time.Time{}, suppressed: map[string]int{}}
}

// report writes one line of the given kind, unless one was written less than a second ago; then it is counted, and the
// count stands in the next line.
func (r *reporter) report(kind, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if last, ok := r.last[kind]; ok && now.Sub(last) < reportInterval {
		r.suppressed[kind]++
		return
	}
	more := ""
	if n := r.suppressed[kind]; n > 0 {
		more = fmt.Sprintf(" (and %d more of this kind)", n)
	}
	r.last[kind], r.suppressed[kind] = now, 0
	fmt.Fprintf(r.out, "edge: %s: %s%s\n", kind, r.oneLine(message), more)
}

// logger gives the standard library a place for its own messages.
func (r *reporter) logger(kind string) *log.Logger {
	return log.New(reportWriter{r, kind}, "", 0)
}

type reportWriter struct {
	r    *reporter
	kind string
}

func (w reportWriter) Write(p []byte) (int, error) {
	message := string(p)
	// Handshakes fail by what clients do (scanners, browsers that refuse the development certificate): not an error here.
	// ReverseProxy says "context canceled" when a visitor left.
	if !strings.Contains(message, "TLS handshake error") && !strings.Contains(message, "context canceled") {
		w.r.report(w.kind, message)
	}
	return len(p), nil
}

// addressLike finds host:port pairs: IPv4, or IPv6 in brackets.
var addressLike = regexp.MustCompile(`\d{1,3}(?:\.\d{1,3}){3}:\d+|\[[0-9A-Fa-f:.%a-z]*\]:\d+`)

// oneLine keeps a message's first line (net/http appends stack traces to panics), without anybody's address.
func (r *reporter) oneLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return addressLike.ReplaceAllStringFunc(line, func(s string) string {
		if slices.Contains(r.own, s) {
			return s
		}
		return "(address)"
	})
}
