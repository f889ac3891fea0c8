package session

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"testing"

	"adaptive-h3/bench/instrument/k6/testsite"
)

func TestPagesThatAreAskedReport(t *testing.T) {
	for _, protocol := range allProtocols {
		t.Run(string(protocol), func(t *testing.T) {
			site := testsite.Start(t)
			reports := make(chan told, 8)
			site.Handle(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/asks" {
					w.Header().Set("Server-Timing", `cfL4;desc="?cid=a&sent=1", h3;desc="a.token"`)
				}
				if r.URL.Path == "/file" {
					w.Header().Set("Server-Timing", `cfL4;desc="?cid=a&sent=9"`)
				}
				if r.URL.Path == "/_h3/v1/report" {
					body, _ := io.ReadAll(r.Body)
					var got told
					if err := json.Unmarshal(body, &got); err != nil || r.Method != http.MethodPost {
						t.Errorf("%s %s: %v", r.Method, body, err)
					}
					reports <- got
					w.WriteHeader(http.StatusNoContent)
				}
			})
			s := open(t, site, func(c *Config) { c.FirstProtocol, c.Reports = protocol, true })
			load(t, s, "/asks", "/file")
			load(t, s, "/asks-not")
			got := s.Report()
			if len(reports) != 1 || !reflect.DeepEqual(got.Told, []string{"a.token"}) || len(got.Pages) != 2 {
				t.Fatalf("%d reports of %+v", len(reports), got)
			}
			one := <-reports
			if one.Token != "a.token" || one.Protocol != protocol || one.TTFBMs > one.LoadMs || one.LoadMs != one.AtMs {
				t.Errorf("%+v", one)
			}
			// The last one of the connection, which is not older than the page.
			if len(one.Connections) != 1 || one.Connections[0].L4 != "?cid=a&sent=9" || one.Connections[0].AgoMs > one.AtMs {
				t.Errorf("%+v", one.Connections)
			}
			silent := open(t, site, func(c *Config) { c.FirstProtocol = protocol })
			load(t, silent, "/asks")
			if len(reports) != 0 || len(silent.Report().Told) != 0 {
				t.Error("it reports without being told to")
			}
		})
	}
}
