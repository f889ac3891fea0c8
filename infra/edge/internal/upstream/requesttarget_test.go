package upstream

import (
	"net/url"
	"testing"
)

func TestPassTarget(t *testing.T) {
	for requestURI, want := range map[string]string{
		"/a%20b?c=d%2F&e":          "/a%20b?c=d%2F&e",
		"/a|b^c{d}'e?f=|^{}`'%zz;": "/a|b^c{d}'e?f=|^{}`'%zz;",
		"/?":                       "/?",
		"/a<b>`\\c":                "/a%3Cb%3E%60%5Cc",
		"/?a=<b>\"c\"":             "/?a=%3Cb%3E%22c%22",
		"//a%2Fb%41|\"^{}'?c":      "//a%2Fb%41%7C%22%5E%7B%7D'?c",
		"/#a?b#c":                  "/%23a?b%23c",
		"/gr\xc3\xbc\xdfe?\x7f":    "/gr%C3%BC%DFe?%7F",
	} {
		parsed, err := url.ParseRequestURI(requestURI)
		if err != nil {
			parsed = &url.URL{}
		}
		PassTarget(parsed, requestURI)
		if got := parsed.RequestURI(); got != want {
			t.Errorf("%q goes on as %q, want %q", requestURI, got, want)
		}
	}
}

func TestUsualTargetsAreNotCopied(t *testing.T) {
	u := &url.URL{}
	if n := testing.AllocsPerRun(100, func() { PassTarget(u, "/images/a.png?width=100") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
