package session

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"adaptive-h3/bench/instrument/k6/testsite"
)

// A client that moves gets the whole file: over HTTP/3 on the connection that it has, over TCP on a second one that asks for
// the rest, from the new address.
func TestAClientThatMoves(t *testing.T) {
	const size, after = 3_000_000, 1_000_000
	from, to := netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3")
	for _, protocol := range allProtocols {
		t.Run(string(protocol), func(t *testing.T) {
			site := testsite.Start(t)
			s := open(t, site, func(c *Config) {
				c.FirstProtocol, c.ClientAddress, c.Move = protocol, from, &Move{AfterBytes: after, ClientAddress: to}
			})
			load(t, s, "/bytes/"+strconv.Itoa(size))
			report := s.Report()
			if len(report.Protocols) != 1 || report.Bytes != size {
				t.Errorf("%d bytes over %v", report.Bytes, report.Protocols)
			}
			requests := site.Requests()
			if protocol == H3 {
				if len(report.Connections) != 1 || len(requests) != 1 {
					t.Errorf("%d connections, requests %+v", len(report.Connections), requests)
				}
				// The server follows to where packets come from once that path is validated.
				if got := site.QUIC()[0].RemoteAddr().String(); !strings.HasPrefix(got, to.String()+":") {
					t.Errorf("the server sends to %s", got)
				}
				return
			}
			if len(report.Connections) != 2 || len(requests) != 2 {
				t.Fatalf("%d connections, requests %+v", len(report.Connections), requests)
			}
			rest := requests[1]
			if rest.Client != to || rest.Header.Get("Range") != "bytes="+strconv.Itoa(after)+"-" || requests[0].Client != from {
				t.Errorf("requests %+v", requests)
			}
		})
	}
}

// A server that knows no ranges would send everything anew: that is another measurement, and an error.
func TestAMoveToAServerWithoutRanges(t *testing.T) {
	site := testsite.Start(t)
	site.Handle(func(_ http.ResponseWriter, r *http.Request) { r.Header.Del("Range") })
	s := open(t, site, func(c *Config) { c.Move = &Move{AfterBytes: 100_000, ClientAddress: netip.MustParseAddr("127.0.0.3")} })
	if err := s.LoadPage("/bytes/300000"); err == nil || !strings.Contains(err.Error(), "answered 200") {
		t.Errorf("%v", err)
	}
}
