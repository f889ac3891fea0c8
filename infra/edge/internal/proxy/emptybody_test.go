package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// A request goes on at its body's first byte or end, and at the latest when nobody waits any longer. Its body stays whole.
func TestWithoutEmptyBody(t *testing.T) {
	for _, tc := range []struct {
		name, method, body string
		begins             time.Duration // that the body's first byte, or its end, takes
		waits              time.Duration
		empty              bool
	}{
		{"no body, at once", http.MethodPost, "", 0, 0, true},
		{"no body, a round trip later", http.MethodPut, "", 50 * time.Millisecond, 50 * time.Millisecond, true},
		{"no body, too late", http.MethodPost, "", time.Second, endPatience, false},
		{"a body", http.MethodPatch, "body", 0, 0, false},
		{"a body that comes later", http.MethodPost, "body", time.Second, endPatience, false},
		{"no body of a method that has none", http.MethodGet, "", time.Second, time.Second, true},
		{"a body of a method that has none", http.MethodDelete, "body", time.Second, time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			read, write := io.Pipe()
			go func() {
				time.Sleep(tc.begins) // fake time
				_, _ = io.WriteString(write, tc.body)
				write.Close()
			}()
			r := httptest.NewRequest(tc.method, "https://localhost/", read)
			r.ContentLength = -1
			began := time.Now()
			r = withoutEmptyBody(r)
			if took := time.Since(began); took != tc.waits {
				t.Errorf("%s: it waits %s, want %s", tc.name, took, tc.waits)
			}
			if empty := r.Body == http.NoBody && r.ContentLength == 0; empty != tc.empty {
				t.Errorf("%s: empty %v, length %d", tc.name, empty, r.ContentLength)
			}
			if got, err := io.ReadAll(r.Body); string(got) != tc.body || err != nil {
				t.Errorf("%s: %q, %v", tc.name, got, err)
			}
		})
	}
}
