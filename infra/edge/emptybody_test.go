package main

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"adaptive-h3/infra/edge/internal/edgetest"
)

// What the origin gets of a request without a body is the same by whichever protocol, whether its client says so in the header or by
// the end of the stream, through the worker and while it is gone.
func TestRequestWithoutBody(t *testing.T) {
	framing := make(chan string, 1)
	see := func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			framing <- fmt.Sprintf("%s %v %v", r.Method, r.TransferEncoding, r.Header["Content-Length"])
		}
	}
	behind := edgetest.StartUpstream(t, see)
	gone := "http://" + edgetest.RefusingAddress(t)
	for way, e := range map[string]*testEdge{
		"through the worker": startEdgeWith(t, behind),
		"worker gone":        startEdgeWith(t, gone, "-samples", gone, "-origin", behind),
	} {
		t.Run(way, func(t *testing.T) {
			forProtocols(t, func(t *testing.T, protocol string) {
				c := e.client(protocol)
				for method, want := range map[string]string{"GET": "GET [] []", "POST": "POST [] [0]", "PUT": "PUT [] [0]", "PATCH": "PATCH [] [0]", "DELETE": "DELETE [] []", "OPTIONS": "OPTIONS [] []"} {
					for said, body := range map[string]io.Reader{"in the header": nil, "at the end": io.MultiReader()} {
						if body != nil && protocol == "HTTP/1.1" {
							continue // an empty chunk is what its client then says, and what the origin gets
						}
						req, err := http.NewRequest(method, e.url("/"), body)
						if err != nil {
							t.Fatal(err)
						}
						res, err := c.Do(req)
						if err != nil {
							t.Fatal(err)
						}
						res.Body.Close()
						if got := edgetest.Receive(t, "request", framing); got != want {
							t.Errorf("%s, said %s: %s, want %s", method, said, got, want)
						}
					}
				}
			})
		})
	}
}
