package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
)

const (
	// clientsMost bounds the addresses, and with them the rows of the objects. The inputs of one in a row come from one address: the
	// worker asks no more than eight pages of a client in ten seconds (DECIDED_MAX, worker/report-buffer.ts).
	clientsMost = 4_096
	// asksMost is how often a page is loaded until one is asked: a page whose look-up is late is not.
	asksMost = 20
	// keptMost bounds the reports that are sent once more at the end.
	keptMost = 1_000
	// pageIDs are apart from those of visitors' pages.
	pageIDs = 1_000_000_000_000_000_000
)

// The fates of reports that only the attacker knows: the edge refused it as too large for every call (infra/edge/internal/proxy), before
// the worker saw it, or when it may have.
const (
	none  = "none"
	maybe = "maybe"
)

// reportSummary says what the worker must have counted.
type reportSummary struct {
	// Fates counts the reports that were answered, by what has to become of them.
	Fates map[string]int `json:"fates"`
	// Pages is how many tokens came whole, in a report that may count. Clients is of how many clients a page has to count.
	Pages   int `json:"pages"`
	Clients int `json:"clients"`
}

// addressOf is the address that a report comes from: of a network of its own, because one network may not fill the worker's memory.
func addressOf(index uint64, isOther bool) string {
	last := 1
	if isOther {
		last = 2
	}
	i := index / inARow / uint64(len(protocols)) % clientsMost
	return fmt.Sprintf("127.%d.%d.%d", 64+i/256, i%256, last)
}

var tokenInTiming = regexp.MustCompile(`h3;desc="([\w-]+)"`)

// sendReport loads a page, whose token the report has, and sends the report.
func (a *attack) sendReport(in input) (replies []reply, wrong string) {
	transport, end := a.from(in, false)
	defer end()
	token := ""
	for range asksMost {
		page, _ := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/page/100/%d", a.Site, pageIDs+in.index), nil)
		page.Header.Set("Sec-Fetch-Dest", "document")
		r, wrong := exchange(transport, page)
		if wrong != "" {
			return nil, wrong
		}
		if found := tokenInTiming.FindStringSubmatch(r.header.Get("Server-Timing")); found != nil {
			token = found[1]
			break
		}
	}
	if token == "" {
		return nil, fmt.Sprintf("none of %d pages was asked to report", asksMost)
	}
	in.report.body = fill(in.report.body, token)
	if in.report.other {
		transport, end = a.from(in, true)
		defer end()
	}
	for range in.report.times {
		r, wrong := a.post(transport, in.report)
		if wrong != "" {
			return replies, wrong
		}
		r.wrong = a.countReport(in, r)
		replies = append(replies, r)
	}
	a.keep(in)
	return replies, ""
}

// from returns a transport that connects from the address of the input's client.
func (a *attack) from(in input, isOther bool) (http.RoundTripper, func()) {
	transport, end, err := newTransport(connecting{protocol: in.report.over, caFile: a.CA, dialTimeout: hangs, idleTimeout: quicIdle, from: addressOf(in.index, isOther)})
	if err != nil {
		panic(err)
	}
	return transport, end
}

func (a *attack) post(transport http.RoundTripper, r *report) (reply, string) {
	request, _ := http.NewRequest(http.MethodPost, a.Site+reportPath, bytes.NewReader(r.body))
	request.Header = http.Header{"Content-Type": {"text/plain;charset=UTF-8"}, "Sec-Fetch-Site": {r.site}}
	if r.unsized {
		request.ContentLength = -1
	}
	return exchange(transport, request)
}

// exchange sends a request in valid HTTP.
func exchange(transport http.RoundTripper, request *http.Request) (reply, string) {
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	response, err := transport.RoundTrip(request.WithContext(ctx))
	if errors.Is(err, context.DeadlineExceeded) {
		return reply{}, fmt.Sprintf("%s %s was not answered within %v", request.Method, request.URL.Path, hangs)
	}
	if err != nil {
		return reply{}, fmt.Sprintf("%s %s has no answer: %v", request.Method, request.URL.Path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return reply{}, fmt.Sprintf("%s %s has a broken answer: %v", request.Method, request.URL.Path, err)
	}
	return reply{status: response.StatusCode, header: response.Header, text: string(body)}, ""
}

// countReport notes an answer to a report, and says what is wrong with it. Only what is wrong with the body as bytes may be said.
func (a *attack) countReport(in input, r reply) string {
	allowed := []int{http.StatusNoContent}
	fate := in.report.fate
	switch fate {
	case "oversized":
		allowed = []int{http.StatusRequestEntityTooLarge}
	case "":
		allowed = append(allowed, http.StatusBadRequest, http.StatusRequestEntityTooLarge)
	}
	if !slices.Contains(allowed, r.status) {
		return fmt.Sprintf("a report was answered with %d %s", r.status, r.instead)
	}
	if r.status == http.StatusRequestEntityTooLarge && r.text != "" {
		fate = none
		if in.report.unsized {
			fate = maybe
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Reports.Fates[fate]++
	return ""
}

// keep notes what a page may have added, and keeps reports that have to count.
func (a *attack) keep(in input) {
	if in.report.fate != "accepted" && in.report.fate != "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Reports.Pages++
	client := addressOf(in.index, false)
	mustCount := in.report.fate == "accepted"
	if mustCount && !a.mustCount[client] {
		a.Reports.Clients++
	}
	// Of more reports of a client at a time the worker may take none.
	if _, isKnown := a.mustCount[client]; mustCount && !isKnown && len(a.kept) < keptMost {
		a.kept = append(a.kept, in)
	}
	a.mustCount[client] = a.mustCount[client] || mustCount
}

// replay sends once more what was kept, and returns how many reports that is.
func (a *attack) replay() (count int, err error) {
	for _, in := range a.kept {
		transport, end := a.from(in, false)
		r, wrong := a.post(transport, in.report)
		end()
		if wrong != "" || r.status != http.StatusNoContent {
			return count, fmt.Errorf("a replay of input %d: %s %+v", in.index, wrong, r)
		}
		count++
	}
	return count, nil
}
