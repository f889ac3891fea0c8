// Package hostile makes inputs that a server must survive: HTTP/1.1 bytes, HTTP/2 frames, streams of HTTP/3, calls of the
// worker's API, and reports of pages. Each is built from valid parts, of which some are exchanged or mutated. The same seed and index give the same
// input. It sends nothing itself. It imports nothing of this module.
package hostile

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
)

// Batch is how many inputs in a row have one protocol, so that they can share a connection.
const Batch = 20

// Protocols are the kinds of client, in the order in which their batches come.
var Protocols = []string{"h1", "h2", "h3", "api", "report"}

// Input is one hostile input. Which of its last fields are set depends on the protocol.
type Input struct {
	Index    uint64
	Protocol string
	Kind     string
	// Requests is how many requests the origin may see of it. -1: a mutation may have doubled one.
	Requests int
	// Alone: the connection is not fit for another input afterwards.
	Alone bool

	Raw     *Raw     // h1
	Frames  []Frame  // h2
	Streams []Stream // h3
	Call    *Call    // api, report
	// Ragged: an HTTP/2 frame may have no end, so that the server may wait for one.
	Ragged bool
	// Starved: HTTP/2's flow control may keep the answers back.
	Starved bool
	// Bare: the HTTP/3 connection has no control stream but the one in this input.
	Bare      bool
	Datagrams [][]byte
}

// Raw is what goes over a connection of HTTP/1.1.
type Raw struct {
	Bytes []byte
	// Whole: these bytes are exactly one request, and have one answer.
	Whole bool
	// Cut: the request is unfinished, and nothing comes after it.
	Cut bool
}

// gen draws one input.
type gen struct {
	*rand.Rand
	index   uint64
	targets int
}

// Make returns the input of this index.
func Make(seed, index uint64) Input {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, index)), index: index}
	in := Input{Index: index, Protocol: ProtocolOf(index)}
	kinds := kindsOf[in.Protocol]
	names := slices.Sorted(maps.Keys(kinds))
	in.Kind = pick(g, names...)
	kinds[in.Kind](g, &in)
	if in.Requests == 0 {
		in.Requests = g.targets
	}
	return in
}

// ProtocolOf returns the protocol of the input of this index.
func ProtocolOf(index uint64) string { return Protocols[index/Batch%uint64(len(Protocols))] }

// Kinds returns the names of a protocol's kinds of input.
func Kinds(protocol string) []string { return slices.Sorted(maps.Keys(kindsOf[protocol])) }

var kindsOf map[string]map[string]func(*gen, *Input)

// In init, because the kinds themselves call pick, and a variable's own value must not depend on itself.
func init() {
	for name, change := range changesOfJSON {
		kindsOfAPI[name], kindsOfReport[name] = jsonCall(change), jsonReport(change)
	}
	kindsOf = map[string]map[string]func(*gen, *Input){"h1": kindsOfH1, "h2": kindsOfH2, "h3": kindsOfH3, "api": kindsOfAPI, "report": kindsOfReport}
}

func pick[T any](g *gen, of ...T) T { return of[g.IntN(len(of))] }

// target returns the target of the input's next request. The origin tells from it which input a request came from.
func (g *gen) target() string {
	g.targets++
	return fmt.Sprintf("/hostile/%s/%d", mark(g.index), g.targets-1)
}

// inner returns a request that stands where no request can be: in a body, or in a field. No server may take it for one.
func (g *gen) inner() string {
	return fmt.Sprintf("GET /hostile/%s/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", mark(g.index), Inner)
}

// Inner is the end of the target of a request that no server may see.
const Inner = "inner"

// mark names an input, with a checksum: a mutated mark must not name another input.
func mark(index uint64) string {
	text := strconv.FormatUint(index, 16)
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(text))
	return fmt.Sprintf("%s-%08x", text, sum.Sum32())
}

var marked = regexp.MustCompile(`/hostile/([0-9a-f]{1,16})-[0-9a-f]{8}/(\w+)`)

// ReadMark finds in a request's target which input it came from, and which of its targets it is.
func ReadMark(target string) (index uint64, what string, ok bool) {
	found := marked.FindStringSubmatch(target)
	if found == nil {
		return 0, "", false
	}
	index, err := strconv.ParseUint(found[1], 16, 64)
	ok = err == nil && found[0] == "/hostile/"+mark(index)+"/"+found[2]
	return index, found[2], ok
}
