package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// OPTIONS * asks a server as a whole. Go's server of HTTP/1.1 and HTTP/2 would answer it with 200 by itself.
func TestAsteriskIsRefused(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, func(http.ResponseWriter, *http.Request) { t.Error("it came through") }))
	forProtocols(t, func(t *testing.T, protocol string) {
		ask := func() (*http.Response, error) {
			return e.client(protocol).Do(&http.Request{Method: http.MethodOptions, URL: &url.URL{Scheme: "https", Host: e.addresses[0], Path: "*"}})
		}
		if protocol == "HTTP/1.1" { // its client would write /*
			ask = func() (*http.Response, error) {
				c := e.rawTLS()
				fmt.Fprint(c, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n")
				return http.ReadResponse(bufio.NewReader(c), nil)
			}
		}
		res, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Error(res.Status)
		}
	})
}
