package altsvc

import (
	"reflect"
	"testing"
	"time"
)

func updated(lines ...string) []Alternative {
	cache := Cache{Host: "origin.test", known: earlier}
	cache.Update(lines, 0, received)
	return cache.known
}

var (
	received = time.Unix(1_800_000_000, 0)
	earlier  = []Alternative{{"earlier.test", 1, received}}
)

func TestWellFormed(t *testing.T) {
	const day = 24 * time.Hour
	h3 := func(host string, port int, maxAge time.Duration) Alternative {
		return Alternative{host, port, received.Add(maxAge)}
	}
	for _, test := range []struct {
		name  string
		lines []string
		want  []Alternative
	}{
		{"RFC 7838, 3: the host is optional", []string{`h3=":443"`}, []Alternative{h3("origin.test", 443, day)}},
		{"RFC 7838, 3: another host and port", []string{`h3="alt.example.com:8000"`}, []Alternative{h3("alt.example.com", 8000, day)}},
		{
			"RFC 7838, 3: several values, in order of preference",
			[]string{`h3="alt.example.com:8000", h2=":443"`},
			[]Alternative{h3("alt.example.com", 8000, day)},
		},
		{
			"RFC 9110, 5.3: several field lines are one list",
			[]string{`h3=":443"; ma=60`, `h2=":444"`},
			[]Alternative{h3("origin.test", 443, time.Minute)},
		},
		{"other protocols are passed over", []string{`w%3Dx%3Ay#z=":443"`}, nil},
		{"RFC 7838, 3.1: ma", []string{`h3=":443"; ma=3600`}, []Alternative{h3("origin.test", 443, time.Hour)}},
		{"RFC 7838, 3: a parameter's value may be quoted", []string{`h3=":443"; ma="3600"`}, []Alternative{h3("origin.test", 443, time.Hour)}},
		{"RFC 7838, 3.1: ma=0 is stale at once", []string{`h3=":443"; ma=0`}, []Alternative{h3("origin.test", 443, 0)}},
		{"RFC 9111, 1.2.2: a number too large is 2^31", []string{`h3=":443"; ma=99999999999999999999`}, []Alternative{h3("origin.test", 443, maxDeltaSeconds*time.Second)}},
		{"RFC 7838, 3.1: persist changes nothing here", []string{`h3=":443"; persist=1`}, []Alternative{h3("origin.test", 443, day)}},
		{"RFC 7838, 3: unknown parameters are ignored", []string{`h3=":443"; v="46,43"; ma=60; x=y`}, []Alternative{h3("origin.test", 443, time.Minute)}},
		{"RFC 9110, 5.6.3: optional whitespace", []string{" h3=\":443\"\t;\tma=60 ,  h3=\":444\" "}, []Alternative{h3("origin.test", 443, time.Minute), h3("origin.test", 444, day)}},
		{"RFC 9110, 5.6.1.2: empty members are skipped", []string{`, h3=":443",,`, ``}, []Alternative{h3("origin.test", 443, day)}},
		{"RFC 9110, 5.6.4: quoted pairs", []string{`h3="alt\.example.com:443"`}, []Alternative{h3("alt.example.com", 443, day)}},
		{"RFC 3986, 3.2.2: IPv6 in brackets", []string{`h3="[2001:db8::1]:443"`}, []Alternative{h3("2001:db8::1", 443, day)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := updated(test.lines...)
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestClear(t *testing.T) {
	for _, value := range []string{"clear", " clear\t"} {
		if got := updated(value); got != nil {
			t.Errorf("RFC 7838, 3: %q gave %+v", value, got)
		}
	}
}

func TestAMalformedFieldChangesNothing(t *testing.T) {
	for _, test := range []struct{ name, value string }{
		{"empty", ``},
		{"only commas", `, ,`},
		{"RFC 7838, 3: clear is case-sensitive", `Clear`},
		{"RFC 7838, 3: clear stands alone", `clear, h3=":443"`},
		{"RFC 7838, 3: clear stands alone, at the end too", `h3=":443", clear`},
		{"RFC 7838, 3: the authority is quoted", `h3=:443`},
		{"RFC 7838, 3: the port is required", `h3="alt.example.com"`},
		{"RFC 7838, 3: no whitespace around =", `h3 = ":443"`},
		{"RFC 3986, 3.2.3: port 0 is nobody's", `h3=":0"`},
		{"a port above 65535", `h3=":65536"`},
		{"a port with a sign", `h3=":+443"`},
		{"an IPv6 address without brackets", `h3="2001:db8::1:443"`},
		{"a bracket that does not close", `h3="[2001:db8::1:443"`},
		{"RFC 3986, 3.2: a user in the authority", `h3="a@b:443"`},
		{"a path in the authority", `h3="a/b:443"`},
		{"a quoted string without end", `h3=":443`},
		{"a quoted pair without end", `h3=":443\`},
		{"RFC 7838, 3.1: ma is delta-seconds", `h3=":443"; ma=soon`},
		{"RFC 7838, 3.1: ma is not negative", `h3=":443"; ma=-1`},
		{"a parameter without a value", `h3=":443"; ma`},
		{"a semicolon without a parameter", `h3=":443";`},
		{"one bad member spoils the field", `h3=":443", h2`},
		{"members without a comma", `h3=":443" h2=":443"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := updated(test.value); !reflect.DeepEqual(got, earlier) {
				t.Errorf("%q was taken as %+v", test.value, got)
			}
		})
	}
}
