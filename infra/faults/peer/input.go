package main

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
)

// protocols are the kinds of attacker. Inputs of one come five in a row.
var protocols = []string{"h1", "h2", "h3", "report"}

const inARow = 5

// input is one hostile input, built from valid parts of which some are exchanged or mutated. The same seed and index give the same
// input. h2spec has the frames of HTTP/2, and Schemathesis the calls of the API: neither is here.
type input struct {
	index    uint64
	protocol string
	kind     string
	// requests is how many requests the origin may see of it. -1: a mutation may have doubled one.
	requests int

	bytes []byte // h1, and h2 after the client's preface
	// cut: nothing comes after the bytes, which may be unfinished.
	cut     bool
	answers int // h2: so many streams have to end
	streams []stream
	bare    bool // h3: the connection has no control stream but the one in this input
	report  *report
}

// gen draws one input.
type gen struct {
	*rand.Rand
	index   uint64
	targets int
}

// makeInput returns the input of this index.
func makeInput(seed, index uint64) input {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, index)), index: index}
	in := input{index: index, protocol: protocolOf(index)}
	kinds := kindsOf()[in.protocol]
	in.kind = pick(g, slices.Sorted(maps.Keys(kinds))...)
	kinds[in.kind](g, &in)
	if in.requests == 0 {
		in.requests = g.targets
	}
	return in
}

func protocolOf(index uint64) string { return protocols[index/inARow%uint64(len(protocols))] }

// kindsOf is a function because the kinds themselves draw, and a variable's value must not depend on itself.
func kindsOf() map[string]map[string]func(*gen, *input) {
	return map[string]map[string]func(*gen, *input){"h1": kindsOfH1, "h2": kindsOfH2, "h3": kindsOfH3, "report": kindsOfReport}
}

func pick[T any](g *gen, of ...T) T { return of[g.IntN(len(of))] }

// target returns the target of the input's next request. The origin tells from it which input a request came from.
func (g *gen) target() string {
	g.targets++
	return fmt.Sprintf("/hostile/%s/%d", mark(g.index), g.targets-1)
}

// inner returns a request that stands where no request can be: in a body, or in a field. No server may take it for one.
func (g *gen) inner() string {
	return fmt.Sprintf("GET /hostile/%s/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", mark(g.index), inner)
}

// inner is the end of the target of a request that no server may see.
const inner = "inner"

// mark names an input, with a checksum: a mutated mark must not name another input.
func mark(index uint64) string {
	text := strconv.FormatUint(index, 16)
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(text))
	return fmt.Sprintf("%s-%08x", text, sum.Sum32())
}

var marked = regexp.MustCompile(`/hostile/([0-9a-f]{1,16})-[0-9a-f]{8}/(\w+)`)

// readMark finds in a request's target which input it came from, and which of its targets it is.
func readMark(target string) (index uint64, what string, ok bool) {
	found := marked.FindStringSubmatch(target)
	if found == nil {
		return 0, "", false
	}
	index, err := strconv.ParseUint(found[1], 16, 64)
	ok = err == nil && found[0] == "/hostile/"+mark(index)+"/"+found[2]
	return index, found[2], ok
}
