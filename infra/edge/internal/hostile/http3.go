package hostile

import "strings"

// End is how a client ends its side of a stream.
type End int

// The ways to end.
const (
	Fin   End = iota // as a request ends
	Reset            // RESET_STREAM
	Stop             // RESET_STREAM and STOP_SENDING
	Leave            // not at all, until the input is over
)

// Stream is a stream of HTTP/3 that the client opens.
type Stream struct {
	Unidirectional bool
	// Parts are written one by one.
	Parts [][]byte
	End   End
}

var kindsOfH3 = map[string]func(*gen, *Input){
	"frame":  reservedFrames,
	"length": lengthsOfH3,
	"qpack":  badQpack,
	"pseudo": func(g *gen, in *Input) { in.Streams = askH3(headersOfH3(g.pseudo())) },
	"field": func(g *gen, in *Input) {
		in.Streams = askH3(headersOfH3(append(g.requestFields("GET"), g.brokenField())))
	},
	"odd-field":      func(g *gen, in *Input) { in.Streams = askH3(headersOfH3(append(g.requestFields("GET"), g.lowerOdd()))) },
	"many-fields":    func(g *gen, in *Input) { in.Streams = askH3(headersOfH3(g.many())) },
	"smuggling":      smugglingStreams,
	"split":          splitHeaders,
	"reset":          resetStreams,
	"control":        controlStreams,
	"unidirectional": unidirectional,
	"data-first":     dataFirstH3,
	"trailers":       trailersOfH3,
	"datagram":       datagrams,
	"mutation":       mutatedStream,
}

// varint encodes a QUIC integer (RFC 9000, section 16), of more bytes than it needs if size says so.
func varint(n uint64, size int) []byte {
	for s, most := 1, uint64(1)<<6; ; s, most = 2*s, most*most<<2 {
		if s == 8 || (n < most && s >= size) {
			out := make([]byte, s)
			for i := s - 1; i >= 0; i-- {
				out[i], n = byte(n), n>>8
			}
			out[0] |= map[int]byte{1: 0, 2: 0x40, 4: 0x80, 8: 0xc0}[s]
			return out
		}
	}
}

// frameOfH3 has this payload, and says that it has excess bytes more.
func frameOfH3(kind uint64, payload []byte, excess uint64) []byte {
	return append(append(varint(kind, 1), varint(uint64(len(payload))+excess, 1)...), payload...)
}

// qpack encodes fields as literals (RFC 9204, section 4.5.6).
func qpack(fields []field) []byte {
	out := []byte{0, 0}
	for _, f := range fields {
		out = append(append(out, prefixed(0x20, 3, uint64(len(f.name)))...), f.name...)
		out = append(append(out, prefixed(0, 7, uint64(len(f.value)))...), f.value...)
	}
	return out
}

func headersOfH3(fields []field) []byte { return frameOfH3(1, qpack(fields), 0) }

// askH3 is one request stream.
func askH3(parts ...[]byte) []Stream { return []Stream{{Parts: parts}} }

func dataOfH3(body string) []byte { return frameOfH3(0, []byte(body), 0) }

// unknown draws a type of frame or stream that a server has to ignore, or one of HTTP/2's that it has to refuse.
func (g *gen) unknown() uint64 {
	return pick(g, uint64(0x21+0x1f*uint64(g.IntN(1_000))), 0x2, 0x6, 0x8, 0x9, 0x3, 0x4, 0x5, 0x7, 0xd, 0xf0700, 0xf0701, 0x41, 1<<62-1, uint64(g.IntN(1<<30)))
}

func reservedFrames(g *gen, in *Input) {
	parts := [][]byte{headersOfH3(g.requestFields("POST")), dataOfH3("aaaaa")}
	for range 1 + g.IntN(4) {
		at := g.IntN(len(parts) + 1)
		parts = append(parts[:at:at], append([][]byte{frameOfH3(g.unknown(), g.noise(60), 0)}, parts[at:]...)...)
	}
	in.Streams = askH3(parts...)
}

func lengthsOfH3(g *gen, in *Input) {
	block := qpack(g.requestFields("POST"))
	head := frameOfH3(1, block, 0)
	excess := pick(g, uint64(1), 100, 70_000, 1<<30, 1<<62-1-1_000)
	switch g.IntN(4) {
	case 0:
		in.Streams = askH3(frameOfH3(1, block, excess))
	case 1:
		in.Streams = askH3(head, frameOfH3(0, []byte("aaaaa"), excess))
	case 2:
		in.Streams = askH3(frameOfH3(g.unknown(), nil, excess))
	case 3:
		in.Streams = askH3(append(varint(1, 8), varint(0, pick(g, 1, 2, 4, 8))...), head)
	}
}

func badQpack(g *gen, in *Input) {
	valid := qpack(g.requestFields("GET"))
	bad := pick(g, g.noise(200), nil, []byte{0}, []byte{5, 0, 0x80}, []byte{0, 0x80, 0xc0}, []byte{0, 0, 0x80}, []byte{0, 0, 0x10}, append([]byte{0, 0}, prefixed(0xc0, 6, 9_999)...),
		[]byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, []byte{0, 0, 0x2f, 0xff}, []byte{0, 0, 0x29, 0x00, 0x84, 0xff, 0xff, 0xff, 0xff}, append([]byte{0, 0}, strings.Repeat("\xd1", 30_000)...))
	in.Streams = askH3(frameOfH3(1, pick(g, bad, append(append([]byte(nil), bad...), valid...), append(valid, bad[min(2, len(bad)):]...)), 0))
}

func smugglingStreams(g *gen, in *Input) {
	fields, body := g.smuggling()
	in.Streams = askH3(headersOfH3(fields), dataOfH3(string(body)))
}

func splitHeaders(g *gen, in *Input) {
	whole := append(append(frameOfH3(0x21, []byte("a"), 0), headersOfH3(g.requestFields("POST"))...), dataOfH3("aaaaa")...)
	var parts [][]byte
	for len(whole) > 0 {
		n := min(len(whole), 1+g.IntN(pick(g, 1, 3, 30)))
		parts, whole = append(parts, whole[:n]), whole[n:]
	}
	in.Streams = []Stream{{Parts: parts, End: pick(g, Fin, Fin, Reset)}}
}

func resetStreams(g *gen, in *Input) {
	for range 1 + g.IntN(10) {
		whole := append(headersOfH3(g.requestFields(pick(g, "GET", "POST"))), dataOfH3("aaaaa")...)
		in.Streams = append(in.Streams, Stream{Parts: [][]byte{whole[:g.IntN(len(whole)+1)]}, End: pick(g, Reset, Stop, Leave, Fin)})
	}
}

// settingsOfH3 is a control stream's beginning.
func settingsOfH3(pairs ...uint64) []byte {
	var out []byte
	for _, n := range pairs {
		out = append(out, varint(n, 1)...)
	}
	return frameOfH3(4, out, 0)
}

func controlStreams(g *gen, in *Input) {
	first := pick(g, settingsOfH3(), settingsOfH3(6, 1, 6, 1), settingsOfH3(2, 0), settingsOfH3(1, 1<<61, 7, 1<<61), settingsOfH3(0x33, 5), settingsOfH3(8, 9), settingsOfH3(1), frameOfH3(4, g.noise(50), 0), frameOfH3(4, nil, 1<<40),
		dataOfH3("a"), headersOfH3(g.requestFields("GET")), frameOfH3(7, []byte{0}, 0), frameOfH3(g.unknown(), nil, 0), nil)
	next := pick(g, nil, settingsOfH3(), dataOfH3("a"), frameOfH3(7, varint(3, 1), 0), frameOfH3(0xd, varint(9, 1), 0), frameOfH3(3, varint(1<<40, 1), 0), frameOfH3(0xf0700, append(varint(uint64(g.IntN(9)), 1), "u=9"...), 0), frameOfH3(g.unknown(), g.noise(20), 0), frameOfH3(g.unknown(), nil, 1<<50))
	control := Stream{Unidirectional: true, Parts: [][]byte{varint(0, pick(g, 1, 1, 8)), first, next}, End: pick(g, Leave, Leave, Leave, Fin, Reset)}
	in.Streams = []Stream{control}
	if g.IntN(3) == 0 {
		in.Streams = append(in.Streams, control)
	}
	in.Streams = append(in.Streams, askH3(headersOfH3(g.requestFields("GET")))...)
	in.Alone, in.Bare = true, g.IntN(2) == 0
}

func unidirectional(g *gen, in *Input) {
	for range 1 + g.IntN(4) {
		kind := pick(g, 1, 2, 3, 0x54, g.unknown(), g.unknown(), 2, 3)
		in.Streams = append(in.Streams, Stream{Unidirectional: true, Parts: [][]byte{varint(kind, 1), g.noise(300)}, End: pick(g, Fin, Reset, Leave)})
	}
	in.Streams = append(in.Streams, Stream{Unidirectional: true, Parts: [][]byte{nil, {0x40}}, End: pick(g, Fin, Leave)})
	in.Streams = append(in.Streams, askH3(headersOfH3(g.requestFields("GET")))...)
	in.Alone = true
}

func dataFirstH3(g *gen, in *Input) {
	head := headersOfH3(g.requestFields("POST"))
	in.Streams = askH3(pick(g, [][]byte{dataOfH3(g.inner()), head}, [][]byte{head, head, dataOfH3("a")}, [][]byte{nil}, [][]byte{{1}}, [][]byte{settingsOfH3(), head}, [][]byte{head, frameOfH3(0, nil, 0), frameOfH3(0, nil, 0), settingsOfH3()})...)
}

func trailersOfH3(g *gen, in *Input) {
	trailer := headersOfH3(pick(g, []field{{":path", "/"}}, []field{{":status", "500"}}, []field{{"content-length", "5"}}, []field{{"transfer-encoding", "chunked"}}, []field{{"x", "a\r\n\r\n" + g.inner()}}, []field{{"X", "1"}}, nil))
	parts := [][]byte{headersOfH3(g.requestFields("POST")), dataOfH3("aaaaa"), trailer}
	in.Streams = askH3(append(parts, pick(g, nil, trailer, dataOfH3("a")))...)
}

func datagrams(g *gen, in *Input) {
	for range 1 + g.IntN(5) {
		in.Datagrams = append(in.Datagrams, pick(g, g.noise(100), varint(1<<60, 1), nil, append(varint(0, 1), "aaaa"...)))
	}
	fields := append(g.requestFields("CONNECT"), field{":protocol", pick(g, "websocket", "connect-udp", "", "\r\n")}, field{"capsule-protocol", pick(g, "?1", "x")})
	in.Streams = []Stream{{Parts: [][]byte{headersOfH3(fields), dataOfH3(string(g.noise(50)))}, End: pick(g, Fin, Leave)}}
}

func mutatedStream(g *gen, in *Input) {
	whole := append(append(headersOfH3(append(g.requestFields("POST"), field{"content-length", "5"}, field{"cookie", "a=b"})), dataOfH3("aaaaa")...), headersOfH3([]field{{"x", "1"}})...)
	in.Streams = askH3(g.mutate(whole))
	in.Requests = -1
}
