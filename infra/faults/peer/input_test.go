package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// enough inputs that each kind comes several times.
const enough = 2_500

func TestTheSameSeedAndIndexGiveTheSameInput(t *testing.T) {
	differ := 0
	for index := range uint64(enough) {
		one, same := makeInput(7, index), makeInput(7, index)
		if !reflect.DeepEqual(one, same) {
			t.Fatalf("input %d (%s/%s) differs from itself", index, one.protocol, one.kind)
		}
		if !reflect.DeepEqual(one, makeInput(8, index)) {
			differ++
		}
	}
	if differ < enough*9/10 {
		t.Errorf("another seed changes %d of %d inputs", differ, enough)
	}
}

func TestEveryKindComes(t *testing.T) {
	seen := map[string]map[string]int{}
	for index := range uint64(enough) {
		in := makeInput(1, index)
		if seen[in.protocol] == nil {
			seen[in.protocol] = map[string]int{}
		}
		seen[in.protocol][in.kind]++
		if in.bytes == nil && in.streams == nil && in.report == nil {
			t.Errorf("input %d (%s/%s) is empty", index, in.protocol, in.kind)
		}
	}
	for protocol, kinds := range kindsOf() {
		for kind := range kinds {
			if seen[protocol][kind] < 2 {
				t.Errorf("%s/%s came %d times of %d", protocol, kind, seen[protocol][kind], enough)
			}
		}
	}
}

func TestReports(t *testing.T) {
	token := "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	fates := map[string]int{}
	for index := range uint64(4 * enough) {
		in := makeInput(1, index)
		if in.protocol != "report" {
			continue
		}
		fates[in.report.fate]++
		body := fill(in.report.body, token)
		if in.report.fate == "" {
			continue
		}
		if !json.Valid(body) && !bytes.Contains(body, []byte("1e999")) || in.report.times < 1 {
			t.Errorf("%s, input %d is no report: %.200s", in.kind, index, body)
		}
		if isOver := len(body) > reportMax; isOver != (in.report.fate == "oversized") {
			t.Errorf("%s, input %d has %d bytes", in.kind, index, len(body))
		}
		isWhole := bytes.Contains(body, []byte(`"token":"`+token+`"`))
		if isWhole && in.report.fate == "unsigned" && !in.report.other || !isWhole && in.report.fate == "accepted" {
			t.Errorf("%s, input %d: %.200s", in.kind, index, body)
		}
	}
	for _, fate := range []string{"", "accepted", "unsigned", "oversized", "malformed", "absurd", "cross-site"} {
		if fates[fate] < 20 {
			t.Errorf("%d reports are %q", fates[fate], fate)
		}
	}
}

func TestFill(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"a%0-4%b", "a0123b"},
		{"%2-4%%0-2%", "2301"},
		{"%1-99%", "123"},
		{"%3-1%%4-5%%a-1%", "%a-1%"},
	} {
		if got := string(fill([]byte(test.body), "0123")); got != test.want {
			t.Errorf("%s: %s, want %s", test.body, got, test.want)
		}
	}
}

func TestMarks(t *testing.T) {
	g := &gen{index: 0xabcdef}
	target := g.target()
	for _, test := range []struct {
		target, what string
		index        uint64
		ok           bool
	}{
		{target, "0", 0xabcdef, true},
		{"https://localhost" + target + "?a", "0", 0xabcdef, true},
		{strings.Fields(g.inner())[1], inner, 0xabcdef, true},
		{strings.Replace(target, "abcdef", "abcdee", 1), "0", 0xabcdee, false},
		{strings.Replace(target, "-", "-0", 1), "", 0, false},
		{"/get/1/2", "", 0, false},
	} {
		index, what, ok := readMark(test.target)
		if index != test.index || what != test.what || ok != test.ok {
			t.Errorf("%s: %d, %s, %v", test.target, index, what, ok)
		}
	}
}

func TestWireForms(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want []byte
	}{
		{"a frame of HTTP/3 that is cut", frame(0, []byte("a"), 3), []byte{0, 4, 'a'}},
		{"a request of HTTP/2 with a body", framesOf([]ask{{fields: []field{{"a b", "c"}}, body: []byte("d")}})[3:9], []byte{1, 4, 0, 0, 0, 1}},
	} {
		if !bytes.Equal(test.got, test.want) {
			t.Errorf("%s: %x, want %x", test.name, test.got, test.want)
		}
	}
}
