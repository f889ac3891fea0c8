package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A body above the bound of the worker's API gets a 413 that arrives whole, also where the client never ends its body, and
// the worker never gets more than the bound.
func TestBodyAboveTheBoundOfTheAPI(t *testing.T) {
	const bound = 262_144
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		if n > bound && strings.HasPrefix(r.URL.Path, "/_h3/") {
			t.Errorf("the worker got %d bytes", n)
		}
		fmt.Fprint(w, n)
	}))
	for _, protocol := range protocols {
		for _, tc := range []struct {
			path    string
			length  int
			known   bool // the request says its length
			endless bool // the client waits for the answer before it would send more
			status  int
		}{
			{"/_h3/v1/policies", bound, true, false, 200},
			{"/_h3/v1/policies", bound, false, false, 200},
			{"/_h3/v1/policies", bound + 1, true, false, 413},
			{"/_h3/v1/policies", bound + 1, false, false, 413},
			{"/_h3/v1/policies", bound + 1, false, true, 413},
			{"/_h3/v1/policies", 5_000_000, true, false, 413},
			{"/_h3/v1/policies", 5_000_000, false, false, 413},
			{"/_h3", bound + 1, false, false, 200},
			{"/_h3x/v1", bound + 1, true, false, 200},
			{"/upload", bound + 1, false, false, 200},
		} {
			name := fmt.Sprintf("%s %s %d known=%v endless=%v", protocol, tc.path, tc.length, tc.known, tc.endless)
			ended := make(chan struct{})
			var in io.Reader = bytes.NewReader(make([]byte, tc.length))
			if tc.endless {
				in = io.MultiReader(in, waiting(ended))
			} else if !tc.known {
				in = io.MultiReader(in)
			}
			c := e.client(protocol)
			res, err := c.Post(e.url(tc.path), "application/json", in)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				close(ended)
				continue
			}
			text, err := io.ReadAll(res.Body)
			res.Body.Close()
			close(ended)
			want := fmt.Sprint(tc.length)
			if tc.status == 413 {
				want = `{"type":"about:blank","status":413,"detail":"a body may have 262144 bytes"}`
				if got := res.Header.Get("Content-Type"); got != "application/problem+json" {
					t.Errorf("%s: %s", name, got)
				}
			}
			if err != nil || res.StatusCode != tc.status || string(text) != want {
				t.Errorf("%s: %s %q, %v", name, res.Status, text, err)
			}
			c.disconnect()
		}
	}
	if said := e.stderr.String(); said != "" {
		t.Errorf("the edge complains: %s", said)
	}
}

// waiting reads nothing until it ends.
type waiting <-chan struct{}

func (w waiting) Read([]byte) (int, error) {
	<-w
	return 0, io.EOF
}
