package main

import (
	"strings"
	"testing"
)

func reportOf(index uint64, fate string) input {
	return input{index: index, protocol: "report", report: &report{fate: fate}}
}

func TestCountReport(t *testing.T) {
	for _, test := range []struct {
		name, fate string
		isUnsized  bool
		r          reply
		counted    string
		wrong      string // a part of it
	}{
		{"a valid one", "accepted", false, reply{status: 204}, "accepted", ""},
		{"a forged one, of which nothing is said", "unsigned", false, reply{status: 204}, "unsigned", ""},
		{"a forged one that is refused", "unsigned", false, reply{status: 400}, "", "answered with 400"},
		{"an oversized one", "oversized", false, reply{status: 413}, "oversized", ""},
		{"an oversized one that is taken", "oversized", false, reply{status: 204}, "", "answered with 204"},
		{"one that the edge refuses", "oversized", false, reply{status: 413, text: "{}"}, none, ""},
		{"one that the edge refuses in the middle", "oversized", true, reply{status: 413, text: "{}"}, maybe, ""},
		{"a mutated one", "", false, reply{status: 400}, "", ""},
		{"a mutated one without an answer", "", false, reply{instead: "reset"}, "", "answered with 0 reset"},
	} {
		a := &attack{summary: summary{Reports: reportSummary{Fates: map[string]int{}}}}
		in := reportOf(0, test.fate)
		in.report.unsized = test.isUnsized
		wrong := a.countReport(in, test.r)
		if (wrong == "") != (test.wrong == "") || !strings.Contains(wrong, test.wrong) {
			t.Errorf("%s: %q, want %q", test.name, wrong, test.wrong)
		}
		if wrong == "" && a.Reports.Fates[test.counted] != 1 {
			t.Errorf("%s: %v, want %q", test.name, a.Reports.Fates, test.counted)
		}
	}
}

func TestKeep(t *testing.T) {
	a := &attack{mustCount: map[string]bool{}}
	for client, fates := range [][]string{
		{"", "accepted", "accepted", "unsigned", "absurd"},
		{"unsigned", "accepted", "", "", ""},
		{"malformed", "", "", "", ""},
	} {
		for i, fate := range fates {
			a.keep(reportOf(uint64(client*inARow*len(protocols)+i), fate))
		}
	}
	if a.Reports.Pages != 11 || a.Reports.Clients != 2 {
		t.Errorf("%+v, want 11 pages that may count, and 2 clients of whom one must", a.Reports)
	}
	if len(a.kept) != 1 || a.kept[0].index != 21 {
		t.Errorf("%+v are kept, want the one that came first of its client", a.kept)
	}
}

func TestReportsComeFromAddressesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for client := range uint64(clientsMost) {
		first := client * inARow * uint64(len(protocols))
		one, another := addressOf(first, false), addressOf(first, true)
		if one != addressOf(first+inARow-1, false) || seen[one] || seen[another] || one == another {
			t.Fatalf("client %d comes from %s and %s", client, one, another)
		}
		seen[one], seen[another] = true, true
	}
}
