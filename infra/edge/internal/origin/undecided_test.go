package origin

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// The fallback hides from visitors that nobody decides: it must not hide it from the operator.
func TestUndecided(t *testing.T) {
	const asked, page = "asked", "page"
	type event struct {
		atS  int
		what string
	}
	for _, tc := range []struct {
		name   string
		events []event
		want   bool
	}{
		{"nothing came", nil, false},
		{"one request", []event{{0, asked}}, false},
		{"for less than a minute", []event{{0, asked}, {59, asked}}, false},
		{"for a minute", []event{{0, asked}, {30, asked}, {60, asked}}, true},
		{"the worker answered in between", []event{{0, asked}, {30, page}, {60, asked}}, false},
		{"and not again", []event{{0, page}, {1, asked}, {61, asked}}, true},
		{"it is over", []event{{0, asked}, {60, asked}, {61, page}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &Fallback{url: &url.URL{Scheme: "http", Host: "origin.test"}}
			for _, e := range tc.events {
				if e.what == asked {
					f.undecided.asked(time.Unix(int64(e.atS), 1))
				} else {
					f.undecided.answered()
				}
			}
			if problems := f.Problems(t.Context()); (len(problems) > 0) != tc.want {
				t.Errorf("%q", problems)
			}
		})
	}
}

// An origin whose certificate nobody here trusts is named, with the reason.
func TestOriginOfAnotherCertificate(t *testing.T) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	s.Config.ErrorLog = nil
	u, err := Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	problems := (&Fallback{url: u}).Problems(t.Context())
	if len(problems) != 1 || !strings.Contains(problems[0], u.Host) || !strings.Contains(problems[0], "certificate") {
		t.Errorf("%q", problems)
	}
}
