package main

import (
	"bytes"
	"strings"

	"github.com/quic-go/qpack"
	"github.com/quic-go/quic-go/quicvarint"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// ask is a request of HTTP/2 or HTTP/3. No encoder of fields minds what stands in them.
type ask struct {
	fields   []field
	body     []byte  // nil: none
	trailers []field // nil: none
}

// asks makes the requests of each kind that both protocols have.
var asks = map[string]func(*gen) []ask{
	"pseudo":      func(g *gen) []ask { return []ask{{fields: g.pseudo()}} },
	"field":       func(g *gen) []ask { return []ask{{fields: append(g.requestFields("GET"), g.brokenField())}} },
	"odd-field":   func(g *gen) []ask { return []ask{{fields: append(g.requestFields("GET"), g.lowerOdd())}} },
	"many-fields": func(g *gen) []ask { return []ask{{fields: g.many()}} },
	"smuggling":   func(g *gen) []ask { fields, body := g.smuggling(); return []ask{{fields: fields, body: body}} },
	"trailers": func(g *gen) []ask {
		trailer := pick(g, []field{{":path", "/"}}, []field{{":status", "500"}}, []field{{"content-length", "5"}}, []field{{"transfer-encoding", "chunked"}}, []field{{"host", "x"}}, []field{{"x", "a\r\n\r\n" + g.inner()}}, []field{{"X", "1"}})
		return []ask{{g.requestFields("POST"), []byte("aaaaa"), trailer}}
	},
	"several": func(g *gen) (all []ask) {
		for range 1 + g.IntN(20) {
			one := ask{fields: g.requestFields(pick(g, "GET", "POST"))}
			if one.fields[0].value == "POST" {
				one.body = []byte(g.inner())
			}
			all = append(all, one)
		}
		return all
	},
}

var (
	kindsOfH2 = map[string]func(*gen, *input){"mutation": mutatedFrames}
	kindsOfH3 = map[string]func(*gen, *input){"mutation": mutatedStream, "frame": oddFrames, "control": oddControl, "reset": resets}
)

func init() {
	for kind, of := range asks {
		kindsOfH2[kind] = func(g *gen, in *input) {
			all := of(g)
			in.bytes, in.answers = framesOf(all), len(all)
		}
		kindsOfH3[kind] = func(g *gen, in *input) {
			for _, one := range of(g) {
				in.streams = append(in.streams, stream{bytes: one.onStream()})
			}
		}
	}
}

func (g *gen) lowerOdd() field {
	f := g.oddField()
	return field{strings.ToLower(f.name), f.value}
}

// framesOf writes requests as frames of HTTP/2, each on a stream of its own.
func framesOf(all []ask) []byte {
	var out, block bytes.Buffer
	framer, encoder := http2.NewFramer(&out, nil), hpack.NewEncoder(&block)
	framer.AllowIllegalWrites = true
	for i, one := range all {
		id := uint32(2*i + 1)
		write := func(fields []field, ends bool) {
			block.Reset()
			for _, f := range fields {
				_ = encoder.WriteField(hpack.HeaderField{Name: f.name, Value: f.value})
			}
			first := block.Next(16_000)
			_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: first, EndStream: ends, EndHeaders: block.Len() == 0})
			for block.Len() > 0 {
				part := block.Next(16_000)
				_ = framer.WriteContinuation(id, block.Len() == 0, part)
			}
		}
		write(one.fields, one.body == nil)
		if one.body != nil {
			_ = framer.WriteData(id, one.trailers == nil, one.body)
		}
		if one.trailers != nil {
			write(one.trailers, true)
		}
	}
	return out.Bytes()
}

func mutatedFrames(g *gen, in *input) {
	in.bytes = g.mutate(framesOf([]ask{{fields: g.requestFields("POST"), body: []byte("aaaaa")}, {fields: g.requestFields("GET")}}))
	in.requests, in.cut = -1, true
}

// stream is a stream of HTTP/3 that the client opens.
type stream struct {
	bytes []byte
	// To the server only; ended by a reset, which is no question; or left open, as control streams are.
	oneWay, reset, open bool
}

// frame has this payload, and says that it has excess bytes more.
func frame(kind uint64, payload []byte, excess uint64) []byte {
	return append(quicvarint.Append(quicvarint.Append(nil, kind), uint64(len(payload))+excess), payload...)
}

func headersFrame(fields []field) []byte {
	var block bytes.Buffer
	encoder := qpack.NewEncoder(&block)
	for _, f := range fields {
		_ = encoder.WriteField(qpack.HeaderField{Name: f.name, Value: f.value})
	}
	return frame(1, block.Bytes(), 0)
}

// onStream writes a request as frames of HTTP/3.
func (a ask) onStream() []byte {
	out := headersFrame(a.fields)
	if a.body != nil {
		out = append(out, frame(0, a.body, 0)...)
	}
	if a.trailers != nil {
		out = append(out, headersFrame(a.trailers)...)
	}
	return out
}

func (g *gen) post() ask { return ask{fields: g.requestFields("POST"), body: []byte("aaaaa")} }

func mutatedStream(g *gen, in *input) {
	one := g.post()
	one.trailers = []field{{"x", "1"}}
	in.streams, in.requests = []stream{{bytes: g.mutate(one.onStream())}}, -1
}

// unknown draws a type of frame or stream that a server has to ignore, or one of HTTP/2's that it has to refuse.
func (g *gen) unknown() uint64 {
	return pick(g, uint64(0x21+0x1f*uint64(g.IntN(1_000))), 0x2, 0x6, 0x9, 0x3, 0x4, 0x5, 0x7, 0xd, 0xf0700, 1<<62-1, uint64(g.IntN(1<<30)))
}

// oddFrames has a frame too many, one that says that it is longer than it is, a bad field block, or frames in another order.
func oddFrames(g *gen, in *input) {
	head, data := headersFrame(g.requestFields("POST")), frame(0, []byte("aaaaa"), 0)
	odd := frame(pick(g, g.unknown(), g.unknown(), 0, 1), pick(g, g.noise(60), nil, []byte(g.inner())), pick(g, uint64(0), 0, 1, 70_000, 1<<61))
	parts := pick(g, [][]byte{odd, head, data}, [][]byte{head, odd, data}, [][]byte{head, data, odd}, [][]byte{data, head}, [][]byte{head, head}, [][]byte{{1}}, nil,
		[][]byte{frame(1, pick(g, g.noise(200), []byte{0, 0, 0xff, 0xff, 0xff}, append([]byte{0, 0}, strings.Repeat("\xd1", 30_000)...)), 0)})
	in.streams = []stream{{bytes: bytes.Join(parts, nil)}}
}

// oddControl has odd settings, and streams of one way that are unknown or there twice.
func oddControl(g *gen, in *input) {
	settings := pick(g, nil, []byte{6, 1, 6, 1}, []byte{2, 0}, []byte{0x33, 5}, []byte{1}, g.noise(50))
	next := pick(g, nil, frame(4, nil, 0), frame(0, []byte("a"), 0), frame(7, []byte{3}, 0), frame(g.unknown(), g.noise(20), 0), frame(g.unknown(), nil, 1<<50))
	control := stream{bytes: bytes.Join([][]byte{{0}, frame(4, settings, 0), next}, nil), oneWay: true, open: true}
	other := stream{bytes: append(quicvarint.Append(nil, pick(g, 0, 1, 2, 3, 0x54, g.unknown())), g.noise(300)...), oneWay: true, open: g.IntN(2) == 0, reset: g.IntN(2) == 0}
	in.streams = append(pick(g, []stream{control}, []stream{control, control}, []stream{other, other, other}, []stream{other, control}), stream{bytes: ask{fields: g.requestFields("GET")}.onStream()})
	in.bare = g.IntN(2) == 0
}

func resets(g *gen, in *input) {
	for range 1 + g.IntN(10) {
		whole := g.post().onStream()
		in.streams = append(in.streams, stream{bytes: whole[:g.IntN(len(whole)+1)], reset: g.IntN(4) > 0})
	}
}
