package session

import (
	"testing"

	"adaptive-h3/bench/instrument/k6/testsite"
)

func TestALaterSessionIsResumed(t *testing.T) {
	for _, test := range []struct {
		name                string
		protocol            Protocol
		resumption          Resumption
		resumed, early, saw bool
	}{
		{"h1", H1, NewResumption(false), true, false, true},
		{"h2", H2, NewResumption(false), true, false, true},
		{"h3", H3, NewResumption(false), true, false, true},
		{"h3 in 0-RTT", H3, NewResumption(true), true, true, true},
		{"nothing kept", H3, Resumption{}, false, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := testsite.Start(t)
			var last Report
			for range 2 {
				s := open(t, site, func(c *Config) { c.FirstProtocol, c.Resumption = test.protocol, test.resumption })
				load(t, s, "/bytes/1000", "/bytes/2000")
				report := s.Report()
				if got := report.Connections[0]; last.Connections == nil && (got.Resumed || got.EarlyData) {
					t.Errorf("the first session: %+v", got)
				}
				last = report
				s.Close()
			}
			if got := last.Connections[0]; len(last.Connections) != 1 || got.Resumed != test.resumed || got.EarlyData != test.early {
				t.Errorf("the second session: %+v", last.Connections)
			}
			requests := site.Requests()
			if len(requests) != 4 || requests[0].Resumed || requests[3].Resumed != test.saw {
				t.Errorf("the server saw %+v", requests)
			}
		})
	}
}
