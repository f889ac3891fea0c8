package hostile

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Report says what a report needs, and what has to become of it.
type Report struct {
	// Page: the caller loads a page first, whose token comes into the body (Fill).
	Page bool
	// Other: the report comes from another address than the one that loaded the page.
	Other bool
	// Times is how often it is sent.
	Times int
	// Fate is what the worker has to make of it, as it counts reports (worker/reporter/report-counts.ts). "": whatever. None: it
	// is no report.
	Fate string
}

const (
	// ReportPath is where pages report.
	ReportPath = "/_h3/v1/report"
	// None is the fate of what is no report.
	None = "none"
	// reportMax is how many bytes of a report the worker takes (worker/reporter/report-endpoint.ts).
	reportMax = 4_096
	// tokenLength and tokenMACAt are in characters (worker/reporter/token.ts).
	tokenLength = 64
	tokenMACAt  = 48
)

// wholeToken stands in a body for the token of a page. A part of it has other numbers.
var wholeToken = fmt.Sprintf("%%0-%d%%", tokenLength)

var tokenPart = regexp.MustCompile(`%(\d{1,2})-(\d{1,2})%`)

// Fill puts a page's token into a body, or the parts of it that the body asks for.
func Fill(body []byte, token string) []byte {
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

// pageReport is a page's report. Its fields may have any type (policy-api/visitors/page-report.ts).
type pageReport struct {
	Token       any `json:"token"`
	Protocol    any `json:"protocol"`
	ConnectMs   any `json:"connectMs"`
	TTFBMs      any `json:"ttfbMs"`
	LoadMs      any `json:"loadMs"`
	LCPMs       any `json:"lcpMs"`
	AtMs        any `json:"atMs"`
	Files       any `json:"files"`
	Connections any `json:"connections"`
}

type pageFiles struct {
	Protocol any `json:"protocol"`
	Count    any `json:"count"`
	Bytes    any `json:"bytes"`
}

type pageReading struct {
	L4    any `json:"l4"`
	AgoMs any `json:"agoMs"`
}

var kindsOfReport = map[string]func(*gen, *Input){
	"replay":  func(g *gen, in *Input) { g.send(in, g.report(), "accepted").Times = 2 + g.IntN(4) },
	"token":   forgedToken,
	"other":   func(g *gen, in *Input) { g.send(in, g.report(), "unsigned").Other = true },
	"size":    sizes,
	"absurd":  absurdReport,
	"fields":  wrongReport,
	"keys":    oddKeys,
	"cf-l4":   oddCfL4,
	"content": func(g *gen, in *Input) { g.send(in, g.report(), ""); g.addContentFields(in.Call) },
	"site":    otherSite,
	"method":  func(g *gen, in *Input) { g.send(in, g.report(), ""); g.changeMethod(in.Call) },
	"query":   func(g *gen, in *Input) { g.send(in, g.report(), ""); g.changeQuery(in.Call) },
	"path": func(g *gen, in *Input) {
		g.send(in, g.report(), "")
		in.Call.Target = pick(g, "/_h3/v1/report/", "/_h3/v1//report", "/_h3//v1/report", "/_h3/v1/Report", "/_h3/v1/%72eport", "/_h3/v1/report%00", "/_h3/v1/report%2f", "/_h3/v1/report;a=b", "/_h3/v1/./report", "/_h3/v1/x/../report", "/_h3/v1/reports", "/_h3/v1/report.js", "/_h3/v1/reporter.js", "/_h3/v2/report", "/_h3/v1/report/"+strings.Repeat("a/", 5_000))
	},
}

// report is a valid report. Its times fit every page that was loaded a moment ago.
func (g *gen) report() pageReport {
	protocol := g.over()
	if protocol == "h1" {
		protocol = "http/1.1"
	}
	ttfb := 900 + g.IntN(100)
	return pageReport{
		Token: wholeToken, Protocol: protocol, ConnectMs: g.IntN(900), TTFBMs: ttfb, LoadMs: ttfb + g.IntN(500), LCPMs: g.IntN(1_000), AtMs: ttfb + 500 + g.IntN(500),
		Files:       []any{pageFiles{protocol, 1 + g.IntN(50), g.IntN(1_000_000)}, pageFiles{"h2", 1, 100}},
		Connections: []any{pageReading{"?proto=TCP&rtt=40000&min_rtt=38000&sent=500&lost=25&sent_bytes=700000&delivery_rate=2000000&cid=ab12", g.IntN(500)}},
	}
}

// send sets the call that sends a report.
func (g *gen) send(in *Input, report pageReport, fate string) *Report {
	body, err := json.Marshal(report)
	if err != nil {
		panic(err)
	}
	in.Call = &Call{
		Over: g.over(), Method: http.MethodPost, Target: ReportPath, Body: body, Header: http.Header{"Content-Type": {"text/plain;charset=UTF-8"}, "Sec-Fetch-Site": {"same-origin"}},
		Report: &Report{Page: true, Times: 1, Fate: fate},
	}
	return in.Call.Report
}

// jsonReport is a report whose JSON is changed.
func jsonReport(change func(g *gen, valid string) []byte) func(*gen, *Input) {
	return func(g *gen, in *Input) {
		g.send(in, g.report(), "")
		in.Call.Body = change(g, string(in.Call.Body))
	}
}

// letters returns so many characters of tokens.
func (g *gen) letters(n int) string {
	const all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var out strings.Builder
	for range n {
		out.WriteByte(all[g.IntN(len(all))])
	}
	return out.String()
}

// forgedToken has no token, or one that is not as the worker wrote it.
func forgedToken(g *gen, in *Input) {
	r := g.report()
	head, mac := fmt.Sprintf("%%0-%d%%", tokenMACAt), fmt.Sprintf("%%%d-%d%%", tokenMACAt, tokenLength)
	r.Token = pick(g,
		g.letters(tokenLength), head+g.letters(tokenLength-tokenMACAt), g.letters(tokenMACAt)+mac, mac+head, head+strings.Repeat("A", tokenLength-tokenMACAt),
		// Another form, another nonce, and other bytes of the decision.
		"B"+g.letters(1)+fmt.Sprintf("%%2-%d%%", tokenLength), "%0-40%"+g.letters(8)+mac, "%0-4%"+g.letters(8)+fmt.Sprintf("%%12-%d%%", tokenLength),
		"%0-63%", "%0-60%", head, "%1-64%", wholeToken+"A", wholeToken+"====", " "+wholeToken, wholeToken+"\n", wholeToken+"\x00", "%0-63%=", "%0-32%\u00e9%33-64%", "A", strings.Repeat("=", tokenLength))
	g.send(in, r, "unsigned")
}

// sizes are reports around the bound, in valid JSON.
func sizes(g *gen, in *Input) {
	fate, size := "accepted", reportMax+pick(g, -1_000, -1, 0, 1, 2, 1_000, 60_000, 1_000_000)
	if size > reportMax {
		fate = "oversized"
	}
	g.send(in, g.report(), fate)
	padding := strings.Repeat(" ", size-len(Fill(in.Call.Body, strings.Repeat("A", tokenLength))))
	in.Call.Body = append([]byte(padding), in.Call.Body...)
	in.Call.Unsized = g.IntN(2) == 0
}

// absurdReport has figures that no page of its token shows.
func absurdReport(g *gen, in *Input) {
	r := g.report()
	reading := func(l4 string) []any { return []any{pageReading{"?proto=TCP&cid=a&" + l4, 1}} }
	pick(g,
		func() { r.ConnectMs = 1_000 },
		func() { r.LoadMs = 1 },
		func() { r.AtMs = 3_600_000 },
		func() { r.AtMs = 0 },
		func() { r.LCPMs = 3_600_000 },
		func() { r.Protocol = otherProtocol(g.over()) },
		func() { r.Connections = []any{pageReading{"a", 3_600_000}} },
		func() { r.Connections = reading("sent=10&lost=11") },
		func() { r.Connections = reading("sent=999999999999999&lost=1") },
		func() { r.Connections = reading("rtt=999999999999999") },
		func() { r.Connections = reading("sent_bytes=999999999999999") },
		func() { r.Connections = reading("delivery_rate=999999999999999") },
	)()
	g.send(in, r, "absurd")
}

// otherProtocol is one that a page over this one did not come over.
func otherProtocol(over string) string {
	if over == "h3" {
		return "h2"
	}
	return "h3"
}

// wrongReport has a field that no report has.
func wrongReport(g *gen, in *Input) {
	r := g.report()
	field := pick(g, &r.ConnectMs, &r.TTFBMs, &r.LoadMs, &r.LCPMs, &r.AtMs)
	files := func(f pageFiles) []any { return []any{f} }
	list := func(n int, of any) (all []any) {
		for range n {
			all = append(all, of)
		}
		return all
	}
	pick(g,
		func() {
			*field = pick[any](g, -1, 0.5, 1e300, 3_600_001, int64(1)<<62, "900", "", true, []int{900}, map[string]int{})
		},
		func() { *field = json.Number(pick(g, "1e999", "-0.1", "900.0000001", "9007199254740993")) },
		func() {
			r.Token = pick[any](g, nil, 1, "", []string{wholeToken}, map[string]string{"a": wholeToken}, strings.Repeat(wholeToken, 2))
		},
		func() { r.Protocol = pick[any](g, nil, 3, "", strings.Repeat("h", 17), []string{"h2"}) },
		func() {
			r.Files = pick[any](g, nil, 1, "a", list(5, pageFiles{"h2", 1, 1}), list(90, pageFiles{"h2", 1, 1}), map[string]int{"length": 4}, list(4, 1), list(1, list(1, 1)))
		},
		func() { r.Files = files(pageFiles{"h2", pick[any](g, 0, -1, 0.5, 10_001, "1", nil), 1}) },
		func() { r.Files = files(pageFiles{"h2", 1, pick[any](g, -1, 1.1e12, 1e300, "1", nil, []int{1})}) },
		func() { r.Files = files(pageFiles{pick[any](g, "", 1, nil, strings.Repeat("h", 17)), 1, 1}) },
		func() {
			r.Connections = pick[any](g, nil, 1, "a", list(5, pageReading{"", 1}), list(100, pageReading{"a", 1}), list(4, "?proto=TCP&cid=a"))
		},
		func() {
			r.Connections = []any{pageReading{pick[any](g, nil, 1, "", strings.Repeat("a", 513), []string{"a"}), 1}}
		},
		func() { r.Connections = []any{pageReading{"a", pick[any](g, nil, -1, 0.5, 1e300, "1")}} },
	)()
	g.send(in, r, "malformed")
}

// oddKeys has keys twice, or keys that objects of JavaScript have anyway.
func oddKeys(g *gen, in *Input) {
	g.send(in, g.report(), "")
	more := pick(g, `"__proto__":{"token":"a"}`, `"__proto__":null`, `"constructor":{"prototype":{"loadMs":1}}`, `"toString":1`, `"toJSON":1`, `"":1`, `"token":"a"`, `"token":"`+wholeToken+`"`, `"loadMs":1`, `"files":[]`, `"at\u004ds":901`, `"\u0000":1`, `"length":1e9`)
	valid := string(in.Call.Body)
	in.Call.Body = []byte(pick(g, "{"+more+","+valid[1:], valid[:len(valid)-1]+","+more+"}", strings.Replace(valid, `{"protocol"`, "{"+more+`,"protocol"`, 1), strings.Replace(valid, `{"l4"`, "{"+more+`,"l4"`, 1)))
}

// oddCfL4 has strings for the counters of connections that are of no known form.
func oddCfL4(g *gen, in *Input) {
	r := g.report()
	one := func() any {
		return pageReading{pick(g, "?", "&", "=", "a", "proto=UDP&cid=a", "proto=TCP", "proto=TCP&cid=", "proto=__proto__&cid=a", "proto=constructor&cid=a", "proto=TCP&proto=QUIC&cid=a&cid=b", "proto=TCP&cid="+strings.Repeat("a", 59), "proto=TCP&cid=page:a", "proto=TCP&cid=a&rtt=-1&sent=1e9&lost=0x10", "proto=TCP&cid=a&rtt=0&min_rtt=0&sent=0&lost=5", "proto=QUIC&cid=a&sent=1000&lost=1000", "proto=TCP&cid=a&rtt="+strings.Repeat("9", 400), "proto=TCP&cid=a&rtt=1&rtt=999999999999", "proto=TCP&cid=a%00&sent=%31", "\x00\x00", "proto=TCP&cid=\u202e", strings.Repeat("&", 512), strings.Repeat("\U0001f600", 500), "__proto__=1&cid=a&proto=TCP", "cfL4;desc=\"?proto=TCP\"", string(g.mutate([]byte("?proto=TCP&rtt=40000&sent=500&lost=25&cid=ab12")))), g.IntN(900)}
	}
	r.Connections = []any{one(), one(), one(), one()}[:1+g.IntN(4)]
	g.send(in, r, "")
}

// otherSite comes from a page of another site, or says where it comes from in an odd way.
func otherSite(g *gen, in *Input) {
	if g.IntN(2) == 0 {
		g.send(in, g.report(), "cross-site")
		in.Call.Header["Sec-Fetch-Site"] = []string{pick(g, "cross-site", "same-site", "none", "null", "Same-Origin", "same-origin, same-origin", "same-origin;a", "?1", strings.Repeat("same-origin", 500))}
		return
	}
	g.send(in, g.report(), "accepted")
	if g.IntN(2) == 0 {
		delete(in.Call.Header, "Sec-Fetch-Site")
	}
	in.Call.Header["Origin"] = []string{pick(g, "null", "https://other.example", "", "*", "file://", "https://localhost, https://localhost", strings.Repeat("a", 5_000))}
	in.Call.Header["Referer"] = []string{pick(g, "https://other.example/", "about:client", "", strings.Repeat("/", 5_000), "https://localhost/_h3/v1/report")}
}
