package main

import (
	"errors"
	"maps"
	"net/http"
	"testing"
)

func TestJudge(t *testing.T) {
	broke := errors.New("broken")
	plain := answerTo("GET", "/get/100/1", "")
	lying := answerTo("GET", "/lie/length/100/1", "")
	with := func(name, value string) http.Header {
		h := maps.Clone(plain.header)
		h[name] = []string{value}
		return h
	}
	for _, test := range []struct {
		name   string
		method string
		a      answer
		g      got
		want   string
	}{
		{"all of it", "GET", plain, got{200, plain.header, plain.body, 100, nil}, right},
		{"with an offer", "GET", plain, got{200, with("Alt-Svc", "clear"), plain.body, 100, nil}, right},
		{"with another header", "GET", plain, got{200, with("Via", "x"), plain.body, 100, nil}, wrong},
		{"another cookie", "GET", plain, got{200, with("Set-Cookie", "a=1"), plain.body, 100, nil}, wrong},
		{"another status", "GET", plain, got{201, plain.header, plain.body, 100, nil}, wrong},
		{"short, as if all were well", "GET", plain, got{200, plain.header, plain.body[:99], 99, nil}, wrong},
		{"short, and broken", "GET", plain, got{200, plain.header, plain.body[:99], 100, broke}, aborted},
		{"other bytes, and broken", "GET", plain, got{200, plain.header, []byte("other"), 100, broke}, wrong},
		{"more than all of it", "GET", plain, got{200, plain.header, append(plain.body[:100:100], 1), 101, nil}, wrong},
		{"nothing", "GET", plain, got{err: broke}, aborted},
		{"a 502 of ours", "GET", plain, got{502, http.Header{}, []byte("502"), 3, nil}, ours},
		{"a 500 of ours", "GET", plain, got{500, http.Header{}, nil, 0, nil}, wrong},
		{"the origin's 503", "GET", answerTo("GET", "/unwell/0/1", ""), got{503, answerTo("GET", "/unwell/0/1", "").header, nil, 0, nil}, right},
		{"a HEAD", "HEAD", plain, got{200, plain.header, nil, 100, nil}, right},
		{"a HEAD of another length", "HEAD", plain, got{200, plain.header, nil, 0, nil}, wrong},
		{"a lie that arrives broken", "GET", lying, got{200, lying.header, lying.body, 200, broke}, right},
		{"a lie that breaks before its header arrives", "GET", lying, got{err: broke}, right},
		{"a lie that arrives as a success", "GET", lying, got{200, lying.header, lying.body, 100, nil}, wrong},
	} {
		if outcome, what := judge(test.method, test.a, test.g); outcome != test.want {
			t.Errorf("%s: %s (%s), want %s", test.name, outcome, what, test.want)
		}
	}
}

func TestAnswersDifferByMethodPathAndBody(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range []answer{
		answerTo("GET", "/get/10/1", ""), answerTo("HEAD", "/get/10/1", ""),
		answerTo("GET", "/get/10/2", ""), answerTo("POST", "/get/10/1", "aa"), answerTo("POST", "/get/10/1", "bb"),
	} {
		seen[a.header.Get("X-Origin")] = true
	}
	if len(seen) != 5 {
		t.Errorf("%d different answers of 5", len(seen))
	}
}
