package hostile

import (
	"encoding/binary"
	"strings"
)

// Frame is a frame of HTTP/2 (RFC 9113, section 4.1).
type Frame struct {
	Type, Flags byte
	// Stream counts the new streams of an input from 1. 0 is the connection, and -N is the stream with the id N.
	Stream  int
	Payload []byte
	// Excess is how much longer than its payload the frame says that it is.
	Excess int
}

// The types of frames, and the flags that the sender has to know too.
const (
	data, headers, priority, rstStream, settings, pushPromise, ping, goAway, windowUpdate, continuation = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9

	EndStream  = 1
	ack        = 1
	endHeaders = 4
	padded     = 8
)

// EndsRequest says whether the client has nothing more to send on the stream.
func (f Frame) EndsRequest() bool { return f.Type <= headers && f.Flags&EndStream != 0 && f.Stream > 0 }

// ID is the frame's stream id, if the input's first stream has the id first.
func (f Frame) ID(first uint32) uint32 {
	if f.Stream <= 0 {
		return uint32(-f.Stream)
	}
	return first + 2*uint32(f.Stream-1)
}

// Append appends the frame's bytes.
func (f Frame) Append(to []byte, first uint32) []byte {
	length := uint32(len(f.Payload) + f.Excess)
	to = append(to, byte(length>>16), byte(length>>8), byte(length), f.Type, f.Flags)
	return append(binary.BigEndian.AppendUint32(to, f.ID(first)), f.Payload...)
}

var kindsOfH2 = map[string]func(*gen, *Input){
	"frame":        oddFrames,
	"length":       frameLengths,
	"continuation": continuations,
	"hpack":        badHpack,
	"pseudo":       func(g *gen, in *Input) { in.Frames = g.ask(1, g.pseudo()) },
	"field":        func(g *gen, in *Input) { in.Frames = g.ask(1, append(g.requestFields("GET"), g.brokenField())) },
	"odd-field":    func(g *gen, in *Input) { in.Frames = g.ask(1, append(g.requestFields("GET"), g.lowerOdd())) },
	"many-fields":  func(g *gen, in *Input) { in.Frames = g.ask(1, g.many()) },
	"smuggling":    smugglingFrames,
	"reset":        resets,
	"window":       windows,
	"flood":        floods,
	"priority":     priorities,
	"data-first":   dataFirst,
	"trailers":     trailersOfH2,
	"stream-id":    streamIDs,
	"cut":          cutFrames,
	"mutation":     mutatedFrames,
	"mutated-block": func(g *gen, in *Input) {
		in.Frames, in.Requests = blockFrames(1, true, g.mutate(hpack(g.requestFields("GET")))), -1
	},
}

// hpack encodes fields as literals without Huffman coding and without the dynamic table (RFC 7541, section 6.2.2).
func hpack(fields []field) []byte {
	var out []byte
	for _, f := range fields {
		out = append(out, 0)
		out = append(append(out, prefixed(0, 7, uint64(len(f.name)))...), f.name...)
		out = append(append(out, prefixed(0, 7, uint64(len(f.value)))...), f.value...)
	}
	return out
}

// blockFrames puts a field block into HEADERS and as many CONTINUATIONs as it takes.
func blockFrames(stream int, end bool, block []byte) []Frame {
	first := Frame{Type: headers, Stream: stream}
	if end {
		first.Flags = EndStream
	}
	frames := []Frame{first}
	for {
		last := &frames[len(frames)-1]
		last.Payload = block[:min(len(block), 16_000)]
		block = block[len(last.Payload):]
		if len(block) == 0 {
			last.Flags |= endHeaders
			return frames
		}
		frames = append(frames, Frame{Type: continuation, Stream: stream})
	}
}

// ask is a request without a body.
func (g *gen) ask(stream int, fields []field) []Frame {
	return blockFrames(stream, true, hpack(fields))
}

// post is a request with a body.
func (g *gen) post(stream int, fields []field, body []byte) []Frame {
	return append(blockFrames(stream, false, hpack(fields)), Frame{Type: data, Flags: EndStream, Stream: stream, Payload: body})
}

func (g *gen) lowerOdd() field {
	f := g.oddField()
	return field{strings.ToLower(f.name), f.value}
}

func oddFrames(g *gen, in *Input) {
	frames := g.post(1, g.requestFields("POST"), []byte("aaaaa"))
	for range 1 + g.IntN(3) {
		odd := Frame{Type: byte(g.IntN(256)), Flags: byte(g.IntN(256)), Stream: pick(g, 0, 1, 1, 2, -2), Payload: g.noise(40)}
		if g.IntN(2) == 0 {
			odd.Type = byte(g.IntN(10))
		}
		at := g.IntN(len(frames) + 1)
		frames = append(frames[:at:at], append([]Frame{odd}, frames[at:]...)...)
	}
	in.Frames, in.Alone, in.Starved, in.Ragged = frames, true, true, true
}

func frameLengths(g *gen, in *Input) {
	in.Frames = g.post(1, g.requestFields("POST"), []byte("aaaaa"))
	f := &in.Frames[g.IntN(len(in.Frames))]
	f.Excess = pick(g, -1, -len(f.Payload), 1, 100, 16_385, 1<<24-1-len(f.Payload))
	in.Alone, in.Ragged = true, true
}

func continuations(g *gen, in *Input) {
	block := hpack(g.requestFields("GET"))
	frames := []Frame{{Type: headers, Flags: EndStream, Stream: 1}}
	for range 1 + g.IntN(60) {
		part := block[:min(len(block), g.IntN(3))]
		block = block[len(part):]
		frames = append(frames, Frame{Type: continuation, Stream: 1, Payload: part})
	}
	frames = append(frames, Frame{Type: continuation, Flags: endHeaders, Stream: 1, Payload: block})
	switch at := 1 + g.IntN(len(frames)-1); g.IntN(4) {
	case 0:
		frames = append(frames[:at:at], append([]Frame{{Type: pick(g, byte(ping), data, headers, settings, 99), Payload: make([]byte, 8)}}, frames[at:]...)...)
	case 1:
		frames[at].Stream = pick(g, 0, 2, -2)
	case 2:
		frames = frames[at:]
	}
	in.Frames, in.Alone = frames, true
}

func badHpack(g *gen, in *Input) {
	valid := hpack(g.requestFields("GET"))
	bad := pick(g, g.noise(200), []byte{0x80}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, prefixed(0x80, 7, 9_999), prefixed(0x20, 5, 1<<30),
		[]byte{0x00, 0x7f}, []byte{0x00, 0x01, 'x', 0x84, 0xff, 0xff, 0xff, 0xff}, []byte{0x40, 0x81, 0x00, 0x81}, []byte{0x00, 0x00, 0x00}, []byte(strings.Repeat("\x20", 100)), []byte(strings.Repeat("\xbe", 4_000)))
	in.Frames, in.Alone = blockFrames(1, true, pick(g, append(bad, valid...), append(valid, bad...), bad)), true
}

func smugglingFrames(g *gen, in *Input) {
	fields, body := g.smuggling()
	in.Frames = g.post(1, fields, body)
}

func resets(g *gen, in *Input) {
	for stream := 1; stream <= 1+g.IntN(20); stream++ {
		in.Frames = append(in.Frames, blockFrames(stream, g.IntN(2) == 0, hpack(g.requestFields(pick(g, "GET", "POST"))))...)
		if g.IntN(4) > 0 {
			in.Frames = append(in.Frames, Frame{Type: rstStream, Stream: stream, Payload: []byte{0, 0, 0, byte(g.IntN(15))}})
		}
	}
}

func setting(id uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(nil, id), value)
}

func windows(g *gen, in *Input) {
	sizes := Frame{Type: settings, Payload: setting(4, pick(g, uint32(0), 1, 1<<31-1, 1<<31, 1<<32-1))}
	update := Frame{Type: windowUpdate, Stream: pick(g, 0, 1, 2), Payload: binary.BigEndian.AppendUint32(nil, pick(g, uint32(0), 1, 1<<31-1, 1<<31))}
	frames := g.ask(1, g.requestFields("GET"))
	switch g.IntN(3) {
	case 0:
		frames = append([]Frame{sizes}, frames...)
	case 1:
		frames = append(frames, update, update)
	case 2:
		frames = append(append([]Frame{sizes}, frames...), update, sizes)
	}
	in.Frames, in.Alone, in.Starved = frames, true, true
}

func floods(g *gen, in *Input) {
	flood := pick(g, Frame{Type: ping, Payload: make([]byte, 8)}, Frame{Type: settings}, Frame{Type: settings, Flags: ack}, Frame{Type: ping, Flags: ack, Payload: make([]byte, 8)},
		Frame{Type: data, Stream: 1}, Frame{Type: data, Stream: 1, Flags: padded, Payload: make([]byte, 200)}, Frame{Type: priority, Stream: 1, Payload: make([]byte, 5)},
		Frame{Type: settings, Payload: setting(pick(g, uint16(1), 3, 5, 6, 99), pick(g, uint32(0), 1, 1<<31))}, Frame{Type: rstStream, Stream: 1, Payload: make([]byte, 4)}, Frame{Type: 200, Payload: make([]byte, 9)})
	in.Frames = blockFrames(1, false, hpack(g.requestFields("POST")))
	for range 10 + g.IntN(200) {
		in.Frames = append(in.Frames, flood)
	}
	in.Alone = true
}

func priorities(g *gen, in *Input) {
	in.Frames = append(in.Frames,
		Frame{Type: priority, Stream: pick(g, 0, 1, 2, -2), Payload: pick(g, []byte{0, 0, 0, 1, 255}, []byte{128, 0, 0, 3, 0}, []byte{1}, nil)},
		Frame{Type: 16, Stream: pick(g, 0, 1), Payload: append([]byte{0, 0, 0, byte(g.IntN(8))}, pick(g, "u=9", "", "i=?7,u=-1", strings.Repeat("a", 5_000))...)})
	in.Frames = append(in.Frames, g.ask(1, append(g.requestFields("GET"), field{"priority", pick(g, "u=99", "i=x", "\xff", ",,,", "u=1;u=2, i")}))...)
}

func dataFirst(g *gen, in *Input) {
	body := Frame{Type: data, Flags: pick(g, byte(0), EndStream, padded), Stream: pick(g, 1, 1, 0, 2, -2), Payload: pick(g, []byte("aaaaa"), []byte{255, 1}, []byte(g.inner()), nil)}
	in.Frames = append([]Frame{body}, g.ask(1, g.requestFields("POST"))...)
	if g.IntN(2) == 0 {
		in.Frames = append(g.ask(1, g.requestFields("POST")), body)
	}
	in.Alone = true
}

func trailersOfH2(g *gen, in *Input) {
	trailer := pick(g, []field{{":path", "/"}}, []field{{":status", "500"}}, []field{{"content-length", "5"}}, []field{{"transfer-encoding", "chunked"}}, []field{{"host", "x"}}, []field{{"x", "a\r\n\r\n" + g.inner()}}, []field{{"X", "1"}}, nil)
	in.Frames = append(blockFrames(1, false, hpack(g.requestFields("POST"))), Frame{Type: data, Stream: 1, Payload: []byte("aaaaa")})
	in.Frames = append(in.Frames, blockFrames(1, g.IntN(4) > 0, hpack(trailer))...)
	if g.IntN(4) == 0 {
		in.Frames = append(in.Frames, blockFrames(1, true, hpack(trailer))...)
	}
}

func streamIDs(g *gen, in *Input) {
	streams := pick(g, []int{2, 1}, []int{-2}, []int{0}, []int{1, 1}, []int{-2147483647}, []int{3, 2, 1})
	for _, stream := range streams {
		in.Frames = append(in.Frames, g.ask(stream, g.requestFields("GET"))...)
	}
	if g.IntN(3) == 0 {
		in.Frames = append(in.Frames, Frame{Type: pushPromise, Flags: endHeaders, Stream: 1, Payload: append([]byte{0, 0, 0, 2}, hpack(g.requestFields("GET"))...)}, Frame{Type: goAway, Payload: make([]byte, 8)})
	}
	in.Alone = true
}

// cutFrames is a request that ends within a frame.
func cutFrames(g *gen, in *Input) {
	frames := g.post(1, g.requestFields("POST"), []byte("aaaaa"))
	frames = frames[:1+g.IntN(len(frames))]
	last := &frames[len(frames)-1]
	cut := g.IntN(len(last.Payload))
	last.Excess, last.Payload = len(last.Payload)-cut, last.Payload[:cut]
	in.Frames, in.Alone, in.Ragged = frames, true, true
}

func mutatedFrames(g *gen, in *Input) {
	frames := append(g.post(1, g.requestFields("POST"), []byte("aaaaa")), g.ask(2, g.requestFields("GET"))...)
	var all []byte
	for _, f := range frames {
		all = f.Append(all, 1)
	}
	// The bytes are those of a new connection, whose first stream is 1.
	all = g.mutate(all)
	in.Frames, in.Requests, in.Alone, in.Ragged, in.Starved = nil, -1, true, true, true
	in.Raw = &Raw{Bytes: all}
}
