package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"adaptive-h3/infra/edge/internal/hostile"
)

const (
	// reportsPerClient is how many inputs in a row come from one address. The worker asks no more than eight pages of a client in
	// ten seconds (DECIDED_MAX, worker/report-buffer.ts).
	reportsPerClient = 5
	// clientsMost bounds the addresses, and with them the rows of the objects.
	clientsMost = 4_096
	// asksMost is how often a page is loaded until one is asked: a page whose look-up is late is not.
	asksMost = 20
	// keptMost bounds the reports that are sent once more at the end.
	keptMost = 1_000
	// pageIDs are apart from those of visitors' pages.
	pageIDs = 1_000_000_000_000_000_000
)

// reportSummary says what the worker must have counted.
type reportSummary struct {
	// Fates counts the reports that were answered, by what has to become of them. "": whatever. "maybe": the worker may not
	// have seen it. "none": it is no report to the worker.
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
	i := index / reportsPerClient % clientsMost
	return fmt.Sprintf("127.%d.%d.%d", 64+i/256, i%256, last)
}

// senderReport sends reports, and loads the pages whose tokens they have.
type senderReport struct {
	attack      *attack
	from, other *senderAPI
	at          string // the address of from
}

func (s *senderReport) close() {
	for _, one := range []*senderAPI{s.from, s.other} {
		if one != nil {
			one.close()
		}
	}
	s.from, s.other = nil, nil
}

func (s *senderReport) send(in hostile.Input) (replies []reply, wrong string) {
	if at := addressOf(in.Index, false); s.at != at {
		s.close()
		s.at = at
	}
	if s.from == nil {
		s.from = newSenderAPI(s.attack, in.Call.Over, s.at)
	}
	sender := s.from
	body := in.Call.Body
	if in.Call.Report.Page {
		token, wrong := s.token(in)
		if wrong != "" {
			return nil, wrong
		}
		body = hostile.Fill(body, token)
	}
	if in.Call.Report.Other {
		if s.other == nil {
			s.other = newSenderAPI(s.attack, in.Call.Over, addressOf(in.Index, true))
		}
		sender = s.other
	}
	in.Call.Body = body
	for range in.Call.Report.Times {
		more, wrong := sender.send(in)
		for i := range more {
			more[i].wrong = s.attack.countReport(in, more[i])
		}
		replies = append(replies, more...)
		if wrong != "" {
			return replies, wrong
		}
	}
	s.attack.keep(in)
	return replies, ""
}

var tokenInTiming = regexp.MustCompile(`h3;desc="([\w-]+)"`)

// token loads a page, and returns what it takes along.
func (s *senderReport) token(in hostile.Input) (token, wrong string) {
	page := hostile.Input{Call: &hostile.Call{Method: http.MethodGet, Target: "/page/100/" + strconv.FormatUint(pageIDs+in.Index, 10), Header: http.Header{"Sec-Fetch-Dest": {"document"}}}}
	for range asksMost {
		replies, wrong := s.from.send(page)
		if wrong != "" {
			return "", wrong
		}
		for _, r := range replies {
			if found := tokenInTiming.FindStringSubmatch(r.header.Get("Server-Timing")); found != nil {
				return found[1], ""
			}
		}
	}
	return "", fmt.Sprintf("none of %d pages was asked to report", asksMost)
}

// countReport notes an answer to a report, and says what is wrong with it.
func (a *attack) countReport(in hostile.Input, r reply) string {
	call := in.Call
	fate := call.Report.Fate
	isReport := call.Target == hostile.ReportPath && call.Method == http.MethodPost
	if isReport && !slices.Contains(answersTo(fate), r.status) {
		return fmt.Sprintf("a report was answered with %d %s", r.status, r.instead)
	}
	switch {
	case !isReport && r.status != http.StatusNoContent:
		fate = hostile.None
	case r.status == http.StatusRequestEntityTooLarge && r.text != "" && call.Unsized:
		fate = maybe
	case r.status == http.StatusRequestEntityTooLarge && r.text != "":
		fate = hostile.None
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Reports.Fates[fate]++
	return ""
}

// maybe is the fate of a report that the edge refused because it is too large for every call (internal/proxy/apibody.go), when the
// worker may have begun to read it.
const maybe = "maybe"

// answersTo says which answers a report of this fate may get. Only what is wrong with the body as bytes is said.
func answersTo(fate string) []int {
	switch fate {
	case "oversized":
		return []int{http.StatusRequestEntityTooLarge}
	case "":
		return []int{http.StatusNoContent, http.StatusBadRequest, http.StatusRequestEntityTooLarge}
	default:
		return []int{http.StatusNoContent}
	}
}

// keep notes what a page may have added, and keeps reports that have to count.
func (a *attack) keep(in hostile.Input) {
	report := in.Call.Report
	if report.Fate != "accepted" && report.Fate != "" {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Reports.Pages++
	client := addressOf(in.Index, false)
	mustCount := report.Fate == "accepted"
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
		s := newSenderAPI(a, in.Call.Over, addressOf(in.Index, false))
		replies, wrong := s.send(in)
		s.close()
		if wrong != "" || len(replies) != 1 || replies[0].status != http.StatusNoContent {
			return count, fmt.Errorf("a replay of input %d: %s %+v", in.Index, wrong, replies)
		}
		count++
	}
	return count, nil
}
