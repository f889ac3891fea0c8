// Package errorlog writes errors for the person who runs the edge: one line each, and without client addresses. It
// imports only the standard library.
package errorlog

import (
	"fmt"
	"io"
	"log"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Log writes errors to one writer: one line each, at most one line a second of each kind (an upstream that is down fails
// every request), and without client addresses, which are personal data that this system stores nowhere.
type Log struct {
	mu         sync.Mutex
	out        io.Writer
	now        func() time.Time
	own        []string             // addresses that may be named: the servers that this program talks to
	last       map[string]time.Time // by kind; kinds are constants of this program
	suppressed map[string]int
}

const interval = time.Second

// New makes a log that writes to out. It names the addresses in own (HOST:PORT), and hides all others.
func New(out io.Writer, own ...string) *Log {
	return &Log{out: out, now: time.Now, own: own, last: map[string]time.Time{}, suppressed: map[string]int{}}
}

// Report writes one line of the given kind. Less than a second after the last line of this kind it only counts the
// message, and the next line says how many were counted.
func (l *Log) Report(kind, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if last, ok := l.last[kind]; ok && now.Sub(last) < interval {
		l.suppressed[kind]++
		return
	}
	more := ""
	if n := l.suppressed[kind]; n > 0 {
		more = fmt.Sprintf(" (and %d more of this kind)", n)
	}
	l.last[kind], l.suppressed[kind] = now, 0
	fmt.Fprintf(l.out, "edge: %s: %s%s\n", kind, l.oneLine(message), more)
}

// Logger returns a logger of the standard library that reports under the given kind.
func (l *Log) Logger(kind string) *log.Logger {
	return log.New(writer{l, kind}, "", 0)
}

type writer struct {
	log  *Log
	kind string
}

func (w writer) Write(p []byte) (int, error) {
	message := string(p)
	if !isOfClient(message) {
		kind := w.kind
		if strings.Contains(message, "panic serving") {
			kind = "panic" // which no other line of its second may hide
		}
		w.log.Report(kind, message)
	}
	return len(p), nil
}

// isOfClient says whether a message of the standard library is about what a client did, which is no error of the edge.
func isOfClient(message string) bool {
	// Handshakes fail because of clients (scanners, browsers that refuse the development certificate); metrics counts
	// them. ReverseProxy says "context canceled" when a visitor left.
	if strings.Contains(message, "TLS handshake error") || strings.Contains(message, "context canceled") {
		return true
	}
	// Of a client that is gone before its first bytes, net/http says nothing if it closed its connection. It does if the
	// connection was reset, as by a client that closes while something is on its way to it (condlogf in h2_bundle.go).
	return strings.Contains(message, "error reading preface") && strings.Contains(message, syscall.ECONNRESET.Error())
}

// addressLike finds host:port pairs: IPv4, or IPv6 in brackets.
var addressLike = regexp.MustCompile(`\d{1,3}(?:\.\d{1,3}){3}:\d+|\[[0-9A-Fa-f:.%a-z]*\]:\d+`)

// oneLine keeps a message's first line (net/http appends stack traces to panics), and hides client addresses.
func (l *Log) oneLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return addressLike.ReplaceAllStringFunc(line, func(s string) string {
		if slices.Contains(l.own, s) {
			return s
		}
		return "(address)"
	})
}
