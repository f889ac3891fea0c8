package main

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// A request for a host that neither a certificate nor -host has goes nowhere, whatever name its handshake had.
func TestHostsThatAreNotHere(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("X-Forwarded-Host")) }),
			"-host", "site.example", "-host", "*.wild.example")
		for host, want := range map[string]int{
			"localhost": 200, "LOCALHOST:1": 200, "localhost.": 200, "127.0.0.1:8443": 200, "[::1]": 200, "a.localhost": 200,
			"site.example": 200, "site.example:8443": 200, "one.wild.example": 200,
			"evil.example": 421, "www.site.example": 421, "two.one.wild.example": 421, "wild.example": 421, "192.0.2.1": 421, "[::2]:443": 421,
			"localhost.evil.example": 421,
		} {
			req, err := http.NewRequest(http.MethodGet, e.url("/"), nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			res, err := e.client(protocol).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if res.StatusCode != want || (want == 200 && string(text) != host) {
				t.Errorf("%s: %s %q, want %d", host, res.Status, text, want)
			}
		}
	})
}
