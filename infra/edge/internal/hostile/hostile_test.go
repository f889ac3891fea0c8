package hostile

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// enough inputs that each kind comes several times.
const enough = 2_500

func TestTheSameSeedAndIndexGiveTheSameInput(t *testing.T) {
	differ := 0
	for index := range uint64(enough) {
		one, same := Make(7, index), Make(7, index)
		if !reflect.DeepEqual(one, same) {
			t.Fatalf("input %d (%s/%s) differs from itself", index, one.Protocol, one.Kind)
		}
		if !reflect.DeepEqual(one, Make(8, index)) {
			differ++
		}
	}
	if differ < enough*9/10 {
		t.Errorf("another seed changes %d of %d inputs", differ, enough)
	}
}

func TestEveryKindComes(t *testing.T) {
	seen := map[string]map[string]int{}
	for index := range uint64(enough) {
		in := Make(1, index)
		if seen[in.Protocol] == nil {
			seen[in.Protocol] = map[string]int{}
		}
		seen[in.Protocol][in.Kind]++
		if in.Raw == nil && in.Frames == nil && in.Streams == nil && in.Call == nil {
			t.Errorf("input %d (%s/%s) is empty", index, in.Protocol, in.Kind)
		}
	}
	for _, protocol := range Protocols {
		for _, kind := range Kinds(protocol) {
			if seen[protocol][kind] < 2 {
				t.Errorf("%s/%s came %d times of %d", protocol, kind, seen[protocol][kind], enough)
			}
		}
		if len(seen[protocol]) != len(Kinds(protocol)) || len(Kinds(protocol)) < 12 {
			t.Errorf("%s has the kinds %v", protocol, seen[protocol])
		}
	}
}

func TestABatchHasOneProtocol(t *testing.T) {
	for index := range uint64(10 * Batch) {
		if got, want := Make(1, index).Protocol, Protocols[index/Batch%uint64(len(Protocols))]; got != want {
			t.Errorf("input %d is %s, want %s", index, got, want)
		}
	}
}

func TestReports(t *testing.T) {
	token := "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	fates := map[string]int{}
	for index := range uint64(4 * enough) {
		in := Make(1, index)
		if in.Protocol != "report" {
			continue
		}
		report := in.Call.Report
		fates[report.Fate]++
		body := Fill(in.Call.Body, token)
		if report.Fate == "" {
			continue
		}
		if !json.Valid(body) || report.Times < 1 || !report.Page || in.Call.Target != ReportPath || in.Call.Method != "POST" {
			t.Errorf("%s, input %d is no report: %.200s", in.Kind, index, body)
		}
		if isOver := len(body) > reportMax; isOver != (report.Fate == "oversized") {
			t.Errorf("%s, input %d has %d bytes", in.Kind, index, len(body))
		}
		isWhole := bytes.Contains(body, []byte(`"token":"`+token+`"`))
		if isWhole && report.Fate == "unsigned" && !report.Other || !isWhole && report.Fate == "accepted" {
			t.Errorf("%s, input %d: %.200s", in.Kind, index, body)
		}
	}
	for _, fate := range []string{"", "accepted", "unsigned", "oversized", "malformed", "absurd", "cross-site"} {
		if fates[fate] < 20 {
			t.Errorf("%d reports are %q", fates[fate], fate)
		}
	}
}

func TestFill(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		{"a%0-4%b", "a0123b"},
		{"%2-4%%0-2%", "2301"},
		{"%1-99%", "123"},
		{"%3-1%%4-5%%a-1%", "%a-1%"},
	} {
		if got := string(Fill([]byte(test.body), "0123")); got != test.want {
			t.Errorf("%s: %s, want %s", test.body, got, test.want)
		}
	}
}

func TestMarks(t *testing.T) {
	g := &gen{index: 0xabcdef}
	target := g.target()
	for _, test := range []struct {
		target, what string
		index        uint64
		ok           bool
	}{
		{target, "0", 0xabcdef, true},
		{"https://localhost" + target + "?a", "0", 0xabcdef, true},
		{strings.Fields(g.inner())[1], Inner, 0xabcdef, true},
		{strings.Replace(target, "abcdef", "abcdee", 1), "0", 0xabcdee, false},
		{strings.Replace(target, "-", "-0", 1), "", 0, false},
		{"/get/1/2", "", 0, false},
	} {
		index, what, ok := ReadMark(test.target)
		if index != test.index || what != test.what || ok != test.ok {
			t.Errorf("%s: %d, %s, %v", test.target, index, what, ok)
		}
	}
}

func TestWireForms(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want []byte
	}{
		{"a literal of HPACK", hpack([]field{{"a", "bc"}}), []byte{0, 1, 'a', 2, 'b', 'c'}},
		{"an integer beyond its prefix (RFC 7541, C.1.2)", prefixed(0, 5, 1337), []byte{31, 154, 10}},
		{"a literal of QPACK", qpack([]field{{"a", "bc"}}), []byte{0, 0, 0x21, 'a', 2, 'b', 'c'}},
		{"a frame on the second stream", Frame{Type: 1, Flags: 5, Stream: 2, Payload: []byte("a"), Excess: 1}.Append(nil, 7), []byte{0, 0, 2, 1, 5, 0, 0, 0, 9, 'a'}},
		{"a frame on stream 4", Frame{Stream: -4}.Append(nil, 7), []byte{0, 0, 0, 0, 0, 0, 0, 0, 4}},
		{"QUIC's integers (RFC 9000, A.1)", bytes.Join([][]byte{varint(37, 1), varint(15_293, 1), varint(494_878_333, 1), varint(151_288_809_941_952_652, 1), varint(37, 2)}, nil), []byte{0x25, 0x7b, 0xbd, 0x9d, 0x7f, 0x3e, 0x7d, 0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c, 0x40, 0x25}},
		{"a frame of HTTP/3 that is cut", frameOfH3(0, []byte("a"), 3), []byte{0, 4, 'a'}},
	} {
		if !bytes.Equal(test.got, test.want) {
			t.Errorf("%s: %x, want %x", test.name, test.got, test.want)
		}
	}
}
