package main

import (
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
)

// inputWith finds an input whose origin sees it, and the target that it asks for.
func inputWith(t *testing.T, protocol, kind string) (input, string) {
	t.Helper()
	for index := range uint64(10_000) {
		if in := makeInput(1, index); in.protocol == protocol && in.kind == kind {
			for _, word := range strings.Fields(string(in.bytes)) {
				if _, _, ok := readMark(word); ok {
					return in, word
				}
			}
		}
	}
	t.Fatalf("no %s/%s", protocol, kind)
	return input{}, ""
}

func TestJudgeReply(t *testing.T) {
	in, target := inputWith(t, "h1", "pipeline")
	_, another := inputWith(t, "h1", "line-ends")
	within := target[:strings.LastIndexByte(target, '/')+1] + inner
	for _, test := range []struct {
		name  string
		r     reply
		wrong string // a part of it
	}{
		{"the origin's answer", reply{status: 200, text: hostileAnswer + target + "\n"}, ""},
		{"a refusal", reply{status: 400, text: "400 Bad Request"}, ""},
		{"an end of the connection", reply{instead: "closed"}, ""},
		{"a method that nobody knows", reply{status: 501, text: "ERROR: Unrecognized request method."}, ""},
		{"the origin's own failure", reply{status: 503, text: hostileAnswer + target}, ""},
		{"a 502 of ours", reply{status: 502, text: "502 Bad Gateway"}, "a 502 of ours"},
		{"a 500 of ours", reply{status: 500}, "a 500 of ours"},
		{"a 501 for another reason", reply{status: 501, text: "no"}, "a 501 of ours"},
		{"Go's stack", reply{status: 400, text: "oh\ngoroutine 7 [running]:\n"}, "a stack trace"},
		{"JavaScript's stack", reply{status: 422, text: "TypeError: x\n    at f (worker.js:10:7)"}, "a stack trace"},
		{"the answer to another input", reply{status: 200, text: hostileAnswer + another}, "another request's answer"},
		{"an answer to what is no request", reply{status: 200, text: hostileAnswer + within}, "another request's answer"},
		{"a broken answer", reply{status: 200, wrong: "cut"}, "cut"},
	} {
		if wrong := judgeReply(in, test.r); (wrong == "") != (test.wrong == "") || !strings.Contains(wrong, test.wrong) {
			t.Errorf("%s: %q, want %q", test.name, wrong, test.wrong)
		}
	}
}

// askOrigin sends a request to the origin itself, as if the edge did.
func askOrigin(o *origin, method, target string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(method, "http://origin"+target, strings.NewReader(""))
	request.RequestURI = target
	o.ServeHTTP(answer, request)
	return answer
}

func TestTheOriginTellsWhatCameThatNobodySent(t *testing.T) {
	_, target := inputWith(t, "h1", "unfinished")
	within := target[:strings.LastIndexByte(target, '/')+1] + inner
	for _, test := range []struct {
		name  string
		asked []string
		found int
	}{
		{"as sent", []string{"POST " + target}, 0},
		{"twice", []string{"POST " + target, "POST " + target}, 1},
		{"a GET twice, which the edge may do", []string{"GET " + target, "GET " + target}, 0},
		{"what was in a body", []string{"GET " + within}, 1},
		{"a mark that a mutation broke", []string{"POST " + target[:len(target)-3] + "/0", "POST /x", "POST /x"}, 0},
	} {
		o := &origin{}
		for _, line := range test.asked {
			method, path, _ := strings.Cut(line, " ")
			if body, _ := io.ReadAll(askOrigin(o, method, path).Body); !strings.HasPrefix(string(body), hostileAnswer+path) {
				t.Errorf("%s: the origin says %q", test.name, body)
			}
		}
		a := &attack{command: command{Seed: 1}}
		a.judgeOrigin(o)
		if a.Found != test.found {
			t.Errorf("%s: %+v, want %d findings", test.name, a.Findings, test.found)
		}
	}
}

func TestVisitorsAskForNothingHostile(t *testing.T) {
	l := &load{}
	l.lies.Store(30)
	for seed := range uint64(500) {
		if _, kind, path, _ := l.plan(rand.New(rand.NewPCG(1, seed))); !visitorPath.MatchString(path) {
			t.Errorf("a %s of %s is hostile", kind, path)
		}
	}
}
