package altsvc

import (
	"testing"
	"time"
)

func TestCache(t *testing.T) {
	type response struct {
		atSeconds  int
		ageSeconds int
		lines      []string
	}
	for _, test := range []struct {
		name      string
		responses []response
		atSeconds int
		want      []string // host:port of the fresh ones
	}{
		{"nothing known", nil, 0, nil},
		{"the origin's host fills in", []response{{0, 0, []string{`h3=":8443"`}}}, 0, []string{"origin.test:8443"}},
		{"RFC 7838, 2: another host and port", []response{{0, 0, []string{`h3="alt.test:9"`}}}, 0, []string{"alt.test:9"}},
		{"RFC 7838, 3.1: fresh for 24 hours without ma", []response{{0, 0, []string{`h3=":1"`}}}, 86399, []string{"origin.test:1"}},
		{"RFC 7838, 3.1: stale after 24 hours", []response{{0, 0, []string{`h3=":1"`}}}, 86400, nil},
		{"RFC 7838, 3.1: fresh until ma", []response{{0, 0, []string{`h3=":1"; ma=5`}}}, 4, []string{"origin.test:1"}},
		{"RFC 7838, 2.2: stale from ma on", []response{{0, 0, []string{`h3=":1"; ma=5`}}}, 5, nil},
		{"RFC 7838, 3.1: Age counts", []response{{0, 4, []string{`h3=":1"; ma=5`}}}, 1, nil},
		{"RFC 7838, 3.1: a response older than ma offers nothing", []response{{0, 9, []string{`h3=":1"; ma=5`}}}, 0, nil},
		{
			"RFC 7838, 3: a field replaces all that was known",
			[]response{{0, 0, []string{`h3=":1", h3=":2"`}}, {1, 0, []string{`h3=":3"`}}},
			1,
			[]string{"origin.test:3"},
		},
		{
			"RFC 7838, 3: a field replaces what lasts longer",
			[]response{{0, 0, []string{`h3=":1"`}}, {1, 0, []string{`h3=":1"; ma=1`}}},
			2, nil,
		},
		{"RFC 7838, 3: clear removes all", []response{{0, 0, []string{`h3=":1"`}}, {1, 0, []string{"clear"}}}, 1, nil},
		{"RFC 7838, 3: no field removes nothing", []response{{0, 0, []string{`h3=":1"`}}, {1, 0, nil}}, 1, []string{"origin.test:1"}},
		{"a malformed field removes nothing", []response{{0, 0, []string{`h3=":1"`}}, {1, 0, []string{"h3"}}}, 1, []string{"origin.test:1"}},
		{
			"RFC 7838, 3: the server's order, each with its own ma",
			[]response{{0, 0, []string{`h3=":1"; ma=1`, `h3=":2", h2=":3", h3=":4"`}}},
			1,
			[]string{"origin.test:2", "origin.test:4"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cache, start := Cache{Host: "origin.test"}, time.Unix(1_800_000_000, 0)
			at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
			for _, r := range test.responses {
				cache.Update(r.lines, time.Duration(r.ageSeconds)*time.Second, at(r.atSeconds))
			}
			var got []string
			for _, alternative := range cache.Fresh(at(test.atSeconds)) {
				got = append(got, alternative.Authority())
			}
			if len(got) != len(test.want) {
				t.Fatalf("got %v, want %v", got, test.want)
			}
			for i := range got {
				if got[i] != test.want[i] {
					t.Errorf("got %v, want %v", got, test.want)
				}
			}
		})
	}
}
