package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// report is a page's report in valid HTTP, and what has to become of it.
type report struct {
	over  string // h1, h2 or h3
	body  []byte
	other bool // it comes from another address than the one that loaded the page
	// unsized: the length of the body is not announced.
	unsized bool
	times   int // how often it is sent
	site    string
	// fate is what the worker has to make of it, as it counts reports (worker/reporter/report-counts.ts). "": whatever.
	fate string
}

const (
	reportPath = "/_h3/v1/report"
	// reportMax is how many bytes of a report the worker takes (worker/reporter/report-endpoint.ts).
	reportMax = 4_096
	// tokenLength and tokenMACAt are in characters (worker/reporter/token.ts).
	tokenLength = 64
	tokenMACAt  = 48
)

// wholeToken stands in a body for the token of a page. A part of it has other numbers.
var wholeToken = fmt.Sprintf("%%0-%d%%", tokenLength)

var tokenPart = regexp.MustCompile(`%(\d{1,2})-(\d{1,2})%`)

// fill puts a page's token into a body, or the parts of it that the body asks for.
func fill(body []byte, token string) []byte {
	return tokenPart.ReplaceAllFunc(body, func(part []byte) []byte {
		ends := tokenPart.FindSubmatch(part)
		from, _ := strconv.Atoi(string(ends[1]))
		to, _ := strconv.Atoi(string(ends[2]))
		if to = min(to, len(token)); from >= to {
			return nil
		}
		return []byte(token[from:to])
	})
}

type object = map[string]any

// newReport makes a valid report (policy-api/visitors/page-report.ts), whose times fit every page that was loaded a moment ago.
func (g *gen) newReport() object {
	protocol := pick(g, "h1", "h2", "h3")
	ttfb := 900 + g.IntN(100)
	return object{
		"token": wholeToken, "protocol": strings.Replace(protocol, "h1", "http/1.1", 1), "connectMs": g.IntN(900), "ttfbMs": ttfb, "loadMs": ttfb + g.IntN(500), "lcpMs": g.IntN(1_000), "atMs": ttfb + 500 + g.IntN(500),
		"files":       []any{object{"protocol": "h2", "count": 1 + g.IntN(50), "bytes": g.IntN(1_000_000)}},
		"connections": []any{object{"l4": "?proto=TCP&rtt=40000&min_rtt=38000&sent=500&lost=25&sent_bytes=700000&delivery_rate=2000000&cid=ab12", "agoMs": g.IntN(500)}},
	}
}

// send sets a report, which change has changed.
func (g *gen) send(in *input, fate string, change func(object)) *report {
	page := g.newReport()
	protocol := page["protocol"].(string)
	change(page)
	body, err := json.Marshal(page)
	if err != nil {
		panic(err)
	}
	in.report = &report{over: strings.Replace(protocol, "http/1.1", "h1", 1), body: body, times: 1, site: "same-origin", fate: fate}
	return in.report
}

func unchanged(object) {}

var kindsOfReport = map[string]func(*gen, *input){
	"replay": func(g *gen, in *input) { g.send(in, "accepted", unchanged).times = 2 + g.IntN(4) },
	"other":  func(g *gen, in *input) { g.send(in, "unsigned", unchanged).other = true },
	"token":  forgedToken,
	"size":   sizedReport,
	"site": func(g *gen, in *input) {
		g.send(in, "cross-site", unchanged).site = pick(g, "cross-site", "same-site", "none", "Same-Origin", "same-origin, same-origin", "?1", strings.Repeat("same-origin", 500))
	},
	"absurd": func(g *gen, in *input) {
		g.send(in, "absurd", func(r object) {
			reading := func(l4 string) func() {
				return func() { r["connections"] = []any{object{"l4": "?proto=TCP&cid=a&" + l4, "agoMs": 1}} }
			}
			pick(g, func() { r["connectMs"] = 1_000 }, func() { r["loadMs"] = 1 }, func() { r["atMs"] = 3_600_000 }, func() { r["atMs"] = 0 }, func() { r["lcpMs"] = 3_600_000 },
				reading("sent=10&lost=11"), reading("sent=999999999999999&lost=1"), reading("rtt=999999999999999"), reading("delivery_rate=999999999999999"))()
		})
	},
	"fields": func(g *gen, in *input) {
		g.send(in, "malformed", func(r object) {
			switch g.IntN(4) {
			case 0:
				r[pick(g, "connectMs", "ttfbMs", "loadMs", "lcpMs", "atMs")] = pick[any](g, -1, 0.5, 1e300, 3_600_001, "900", true, []int{900}, object{}, json.Number("1e999"))
			case 1:
				r["token"] = pick[any](g, nil, 1, "", []string{wholeToken}, strings.Repeat(wholeToken, 2))
			case 2:
				r["files"] = pick[any](g, nil, 1, "a", []any{1}, []any{object{"protocol": "h2", "count": 0, "bytes": 1}}, []any{object{"protocol": nil, "count": 1, "bytes": 1e300}})
			default:
				r["connections"] = pick[any](g, nil, 1, "a", []any{object{"l4": strings.Repeat("a", 513), "agoMs": 1}}, []any{object{"l4": "a", "agoMs": -1}})
			}
		})
	},
	"cf-l4": func(g *gen, in *input) {
		g.send(in, "", func(r object) {
			r["connections"] = []any{object{"agoMs": 1, "l4": string(g.mutate([]byte("?proto=TCP&rtt=40000&sent=500&lost=25&cid=ab12")))}}
		})
	},
	"mutation": func(g *gen, in *input) {
		r := g.send(in, "", unchanged)
		r.body = pick(g, g.mutate(r.body), []byte(strings.Replace(string(r.body), "{", pick(g, `{"__proto__":{"token":"a"},`, `{"toString":1,`, `{"token":"a",`, `{"a":`+strings.Repeat("[", 1_000)), 1)), r.body[:g.IntN(len(r.body))])
	},
}

// forgedToken has no token, or one that is not as the worker wrote it.
func forgedToken(g *gen, in *input) {
	letters := func(n int) string {
		const all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		var out strings.Builder
		for range n {
			out.WriteByte(all[g.IntN(len(all))])
		}
		return out.String()
	}
	head, mac := fmt.Sprintf("%%0-%d%%", tokenMACAt), fmt.Sprintf("%%%d-%d%%", tokenMACAt, tokenLength)
	g.send(in, "unsigned", func(r object) {
		r["token"] = pick(g,
			letters(tokenLength), head+letters(tokenLength-tokenMACAt), letters(tokenMACAt)+mac, mac+head,
			// Another form, another nonce, and other bytes of the decision.
			"B"+letters(1)+fmt.Sprintf("%%2-%d%%", tokenLength), "%0-40%"+letters(8)+mac, "%0-4%"+letters(8)+fmt.Sprintf("%%12-%d%%", tokenLength),
			"%0-63%", head, "%1-64%", wholeToken+"A", wholeToken+"====", " "+wholeToken, wholeToken+"\x00", "%0-32%\u00e9%33-64%", "A")
	})
}

// sizedReport is a report around the bound, in valid JSON.
func sizedReport(g *gen, in *input) {
	fate, size := "accepted", reportMax+pick(g, -1_000, -1, 0, 1, 2, 1_000, 60_000, 1_000_000)
	if size > reportMax {
		fate = "oversized"
	}
	r := g.send(in, fate, unchanged)
	r.body = append([]byte(strings.Repeat(" ", size-len(fill(r.body, strings.Repeat("A", tokenLength))))), r.body...)
	r.unsized = g.IntN(2) == 0
}
