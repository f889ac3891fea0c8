package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"
)

// hostileAnswer begins the origin's answers to hostile requests. The request's target follows.
const hostileAnswer = "hostile-origin "

// visitorPath is what visitors ask for. All else is hostile.
var visitorPath = regexp.MustCompile(`^/(?:lie/[a-z]+|get|page|missing|unwell|echo)/\d{1,7}/\d{1,19}$`)

// hostileSeen counts the hostile requests by their inputs.
type hostileSeen struct {
	mu    sync.Mutex
	seen  map[uint64]int
	inner []uint64 // the inputs of which something reached the origin that is no request
}

// answerHostile answers with the request's target, so that the attacker can tell whose answer it gets.
func (o *origin) answerHostile(w http.ResponseWriter, r *http.Request) {
	if index, what, ok := readMark(r.RequestURI); ok {
		o.hostile.mu.Lock()
		if o.hostile.seen == nil {
			o.hostile.seen = map[uint64]int{}
		}
		// While its worker does not answer, the edge may ask twice what cannot act twice.
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			o.hostile.seen[index]++
		}
		if what == inner {
			o.hostile.inner = append(o.hostile.inner, index)
		}
		o.hostile.mu.Unlock()
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-Origin", "hostile")
	w.Header().Set("Content-Type", "text/plain")
	_, _ = fmt.Fprintf(w, "%s%s\n", hostileAnswer, r.RequestURI)
}
