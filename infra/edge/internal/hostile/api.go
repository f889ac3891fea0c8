package hostile

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// Call is a call of the worker's API, in valid HTTP.
type Call struct {
	Over           string // h1, h2 or h3
	Method, Target string
	Header         http.Header
	Body           []byte
	// Token: the caller has the token.
	Token bool
	// Unsized: the length of the body is not announced.
	Unsized bool
	// Report: the call is a page's report.
	Report *Report
}

var kindsOfAPI = map[string]func(*gen, *Input){
	"query":         oddQuery,
	"path":          oddPath,
	"preconditions": preconditions,
	"authorization": authorization,
	"content": func(g *gen, in *Input) {
		jsonCall(func(_ *gen, valid string) []byte { return []byte(valid) })(g, in)
		g.addContentFields(in.Call)
	},
	"method": func(g *gen, in *Input) {
		in.Call = g.call()
		g.changeMethod(in.Call)
	},
	"sequence": func(g *gen, in *Input) { in.Call = g.call() },
}

// changesOfJSON make hostile JSON of valid JSON.
var changesOfJSON = map[string]func(g *gen, valid string) []byte{
	"json-deep":     deepJSON,
	"json-huge":     hugeJSON,
	"json-types":    func(g *gen, valid string) []byte { return []byte(g.exchangeValues(valid)) },
	"json-invalid":  invalidJSON,
	"json-mutation": func(g *gen, valid string) []byte { return g.mutate([]byte(valid)) },
	"not-utf-8": func(g *gen, valid string) []byte {
		return []byte(strings.ReplaceAll(valid, "a", pick(g, "\xff", "\xed\xa0\x80", "\xc0\xaf", "\xf8\x88", "\ufeff", "\x00")))
	},
}

// over draws by the batch the version of HTTP that valid calls come over.
func (g *gen) over() string { return Protocols[g.index/Batch/uint64(len(Protocols))%3] }

const policyJSON = `{"schema":3,"mode":"adaptive","contentBytes":{"default":%n,"routes":[{"pathPrefix":"/a","bytes":1000}]},"method":{"kind":"gains","table":{"rttMs":[5,50],"lossRatio":[0,0.02],"contentBytes":[100000],"next":{"gain":[[[0,0.1],[0.2,0.3]]],"se":[[[0.1,0.1],[0.1,0.1]]]},"return":{"gain":[[[0,0.1],[0.2,0.3]]],"se":[[[0.1,0.1],[0.1,0.1]]]},"price":[0,0.01],"priceSe":[0.1,0.1]},"mix":[0.8,0.2],"mixAbout":"a"},"ma":{"minS":60,"maxS":300},"margin":{"enter":0.005,"leave":-0.005},"exploration":{"share":0.1},"reports":{"share":0.5,"inject":false},"rules":[]}`

// operations are valid calls. %d is a version, and %n any number, so that policies differ.
var operations = []struct{ method, path, body string }{
	{"GET", "/health", ""},
	{"GET", "/openapi.json", ""},
	{"GET", "/reference", ""},
	{"GET", "/policies?limit=3&before=%d", ""},
	{"POST", "/policies", `{"policy":` + policyJSON + `,"note":"a"}`},
	{"POST", "/policies", `{"policy":` + policyJSON + `}`},
	{"GET", "/policies/%d", ""},
	{"GET", "/policies/%d/diff/1", ""},
	{"GET", "/activation", ""},
	{"PUT", "/activation", `{"everyone":%d,"stages":[{"version":1,"share":0.5,"pathPrefix":"/a"}],"note":"a"}`},
	{"GET", "/activation/history?limit=3", ""},
	{"POST", "/activation/rollback", `{"note":"a"}`},
	{"PUT", "/activation/kill-switch", `{"kind":"clear","note":"a"}`},
	{"DELETE", "/activation/kill-switch", ""},
	{"POST", "/decisions", `{"paths":[{"transport":"tcp","rttMs":50,"deliveryRateBps":1000000,"lossRatio":0.01,"path":"/a","asn":64496,"country":"JP","clientAddress":"192.0.2.7"}],"port":443}`},
	{"POST", "/decisions/explain", `{"policy":` + policyJSON + `,"request":{"transport":"tcp","rttMs":50,"path":"/a"},"history":{"state":"known","client":{"tcp":{"minRttMs":50,"lossRatio":0.1}}}}`},
	{"POST", "/clients/look-up", `{"address":"192.0.2.7"}`},
	{"POST", "/networks/look-up", `{"address":"2001:db8::a"}`},
	{"POST", "/clients/forget", `{"address":"192.0.2.7"}`},
	{"POST", "/networks/forget", `{"address":"192.0.2.7"}`},
	{"GET", "/audit?limit=3", ""},
	{"GET", "/results?version=%d", ""},
	{"GET", "/results/proposal?version=%d", ""},
}

// call is a valid call, four times of five with the token.
func (g *gen) call() *Call {
	op := pick(g, operations...)
	numbers := strings.NewReplacer("%d", fmt.Sprint(g.IntN(4)), "%n", fmt.Sprint(1_000_000+g.IntN(1_000_000)))
	c := &Call{
		Over: g.over(), Method: op.method, Target: "/_h3/v1" + numbers.Replace(op.path),
		Header: http.Header{}, Body: []byte(numbers.Replace(op.body)), Token: g.IntN(5) > 0,
	}
	if op.method != "GET" {
		c.Header["If-Match"] = []string{"*"}
	}
	if op.body == "" {
		c.Body = nil
	}
	return c
}

// jsonCall is a call whose body is valid JSON, changed.
func jsonCall(change func(g *gen, valid string) []byte) func(*gen, *Input) {
	return func(g *gen, in *Input) {
		c := g.call()
		for c.Body == nil {
			c = g.call()
		}
		c.Body = change(g, string(c.Body))
		in.Call = c
	}
}

var jsonValue = regexp.MustCompile(`"[^"]*"|-?\d+(?:\.\d+)?|\[\]|\{\}`)

var oddValues = []string{
	"null", "true", "-1", "1e400", "-0", "0.1e-400", "1E+2", "9007199254740993", "99999999999999999999", "01", "NaN", "[]", "{}", `""`, `"\u0000"`, `"\ud800"`, `"__proto__"`, `"constructor"`, `"toString"`, "[[[[]]]]",
	`{"__proto__":{"mode":1}}`, `"` + strings.Repeat("a", 10_000) + `"`, `"<script>"`, `"' OR 1=1; --"`, `"/../\\"`, `"::1%eth0"`, `"0x7f.1"`, `"::ffff:1.2.3.4"`, `"` + strings.Repeat("😀", 3_000) + `"`, `[1,"a",null]`, `"adaptive"`, `"fixed-h3"`, "0.5", "1", "0",
}

// exchangeValues puts odd values, or odd keys, in the place of some.
func (g *gen) exchangeValues(valid string) string {
	for range 1 + g.IntN(3) {
		places := jsonValue.FindAllStringIndex(valid, -1)
		if len(places) == 0 {
			break
		}
		place := places[g.IntN(len(places))]
		valid = valid[:place[0]] + pick(g, oddValues...) + valid[place[1]:]
	}
	return valid
}

func deepJSON(g *gen, valid string) []byte {
	depth := pick(g, 10, 15, 16, 17, 18, 1_000, 60_000)
	opening, closing := "[", "]"
	if g.IntN(2) == 0 {
		opening, closing = `{"a":`, "}"
		depth = min(depth, 40_000)
	}
	deep := strings.Repeat(opening, depth) + "1" + strings.Repeat(closing, pick(g, depth, depth, 0, depth+1))
	return []byte(pick(g, deep, strings.Replace(valid, `"a"`, deep, 1), strings.Replace(valid, ":", ":"+deep+",\"b\":", 1)))
}

func hugeJSON(g *gen, valid string) []byte {
	n := pick(g, 1_000, 60_000, 262_144-2, 262_144, 300_000, 1_000_000)
	return []byte(pick(g,
		`"`+strings.Repeat("a", n)+`"`, "["+strings.Repeat("0,", n/2)+"0]", strings.Repeat(" ", n)+valid, `{"a":`+strings.Repeat("9", n)+"}", `{`+strings.Repeat(`"a":1,`, n/6)+`"a":1}`,
		strings.Replace(valid, "{", `{`+strings.Repeat(`"\ud800a":1,`, n/13), 1), strings.Replace(valid, "[]", "["+strings.Repeat(`{"a":1},`, n/8)+"1]", 1), strings.Replace(valid, `"a"`, `"`+strings.Repeat("a", n)+`"`, 1)))
}

func invalidJSON(g *gen, valid string) []byte {
	return []byte(pick(g, "", " ", "null", "1", `"a"`, "[]", "{", "}", "undefined", "{'a':1}", valid+valid, valid+"\x00", "\ufeff"+valid, valid[:g.IntN(len(valid))], strings.ReplaceAll(valid, ":", "="), "{,}", `{"a":1,}`, `{"a":1 /**/}`, "a=b&c=d", "<a/>", "--x\r\n\r\n"))
}

func oddQuery(g *gen, in *Input) {
	in.Call = g.call()
	g.changeQuery(in.Call)
}

func (g *gen) changeQuery(c *Call) {
	path, _, _ := strings.Cut(c.Target, "?")
	c.Target = path + "?" + pick(g, "limit=", "limit=-1", "limit=1e3", "limit=99999999999999999", "limit=1&limit=2", "limit[]=1", "limit=%00", "limit=%ff", "limit=%", "before=0x1", "before=-0", "before=9007199254740993", "__proto__=1", "constructor[prototype]=1", "a="+strings.Repeat("a", 30_000), strings.Repeat("a=1&", 5_000), strings.Repeat("limit=1&", 2_000), "&&&=&=&", "?", "limit=1;before=2", "limit=%31", "\xff", "limit=+1", "limit=٣")
}

func oddPath(g *gen, in *Input) {
	in.Call = g.call()
	in.Call.Target = "/_h3" + pick(g, "", "/", "/v1", "/v1/", "/v2/health", "//v1/health", "/v1//health", "/v1/health/", "/v1/%68ealth", "/v1/health%00", "/v1/policies/"+pick(g, "-1", "0x1", "1e3", "99999999999999999", "9007199254740993", "01", "%31", "NaN", "__proto__", "1%2f2", "..%2f..", "", "%", "%ff", strings.Repeat("1", 5_000)), "/v1/policies/1/diff/"+pick(g, "1", "a", "-1", "%", "1/2"), "/v1/../../_h3/v1/audit", "/v1/;a=b", "/v1/activation/kill-switch/x", "/v1/*", "/v1/openapi.json.bak", "/V1/HEALTH", "/v1/"+strings.Repeat("a/", 5_000), "/v1/\u202ehealth", "/v1/.well-known", "/v1/health?#", "/__proto__/constructor")
}

func preconditions(g *gen, in *Input) {
	in.Call = g.call()
	tag := func() string {
		return pick(g, "", "*", "*, *", `"`, `""`, `"a`, `W/"1"`, `w/"1"`, `"1"`, `"0"`, `"1", "2"`, `"1",,`, "1", strings.Repeat(`"a",`, 5_000), `"\xff"`, `"`+strings.Repeat("a", 8_000)+`"`, "\t", "\xe2\x80\x9c")
	}
	in.Call.Header[pick(g, "If-Match", "If-None-Match", "Idempotency-Key")] = []string{tag()}
	in.Call.Header[pick(g, "Idempotency-Key", "If-Match", "If-Modified-Since", "If-Range", "If-Unmodified-Since")] = pick(g, []string{tag()}, []string{tag(), tag()}, []string{"a", "b"}, []string{"one-key"})
}

func authorization(g *gen, in *Input) {
	in.Call = g.call()
	in.Call.Token = false
	in.Call.Header["Authorization"] = pick(g, []string{"Bearer"}, []string{"Bearer "}, []string{"Bearer  x"}, []string{"bearer x="}, []string{"Basic dTpw"}, []string{"Bearer " + strings.Repeat("a", 30_000)}, []string{"Bearer a b"}, []string{"Bearer \xff"}, []string{"Bearer x", "Bearer y"}, []string{"Bearer =" + strings.Repeat("=", 5_000)}, []string{""}, []string{"Bearer " + strings.Repeat(" ", 30_000)}, []string{"Bearer eyJhbGciOiJub25lIn0.e30."})
}

func (g *gen) addContentFields(c *Call) {
	for range 1 + g.IntN(3) {
		f := g.oddField()
		if pick(g, true, false) {
			f = field{pick(g, "Content-Type", "Content-Encoding", "Accept", "Origin", "Accept-Language"), f.value}
		}
		// Go's own client would act upon these.
		if f.name != "Host" && f.name != "Connection" && f.name != "Expect" && f.name != "Upgrade" && f.name != "Trailer" && f.name != "TE" {
			c.Header[http.CanonicalHeaderKey(f.name)] = []string{f.value}
		}
	}
}

func (g *gen) changeMethod(c *Call) {
	c.Method = pick(g, "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "PURGE", "FOO", "get", "QUERY")
	if g.IntN(2) == 0 {
		c.Header["Access-Control-Request-Method"] = []string{pick(g, "PUT", "", "\xff")}
		c.Header["X-Http-Method-Override"] = []string{"DELETE"}
	}
}
