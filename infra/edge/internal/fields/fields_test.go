package fields

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// vectors are tried in real workerd too (infra/e2e/field-lines.test.ts).
type vectors struct {
	Joined              []string
	Requests, Responses []struct {
		Name      string
		Sent, Got []string
	}
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "field-lines.json"))
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func headerOf(lines []string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		h.Add(name, strings.TrimLeft(value, " "))
	}
	return h
}

func TestFieldLines(t *testing.T) {
	v := readVectors(t)
	for _, tc := range v.Requests {
		h := headerOf(tc.Sent)
		JoinCookies(h)
		Join(h)
		if want := headerOf(tc.Got); !reflect.DeepEqual(h, want) {
			t.Errorf("%s: %q, want %q", tc.Name, h, want)
		}
	}
	for _, tc := range v.Responses {
		h := headerOf(tc.Sent)
		Join(h)
		Split(h)
		if want := headerOf(tc.Got); !reflect.DeepEqual(h, want) {
			t.Errorf("%s: %q, want %q", tc.Name, h, want)
		}
	}
}

func TestJoinedNames(t *testing.T) {
	names := readVectors(t).Joined
	for i, name := range names {
		names[i] = http.CanonicalHeaderKey(name)
	}
	slices.Sort(names)
	if got := slices.Sorted(maps.Keys(joined)); !slices.Equal(got, names) {
		t.Errorf("%q, want %q", got, names)
	}
}

// Whatever a value is, splitting loses nothing: joined again it is the same.
func FuzzSplit(f *testing.F) {
	for _, value := range []string{"", ", ", ", , ", "a, a", `Basic realm="a, b`, `Basic realm="\", x y", NTLM`, "a, =", "a, b =c, d e"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, name := range []string{"Www-Authenticate", "Strict-Transport-Security", "Location"} {
			h := http.Header{name: {value}}
			Split(h)
			if got := strings.Join(h[name], separator); got != value {
				t.Errorf("%s: %q became %q", name, value, h[name])
			}
		}
	})
}
