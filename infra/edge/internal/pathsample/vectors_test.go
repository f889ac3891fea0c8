package pathsample

import (
	"encoding/json"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/measure"
	"adaptive-h3/infra/edge/internal/visitor/visitortest"
)

const ms = time.Millisecond

func TestPathSampleVectors(t *testing.T) {
	encode := func(id string, tr measure.Transport, client string, atMs int64, r measure.Reading, busy time.Duration, closing bool) string {
		c := visitortest.Connection(id, tr, client, r, true)
		visitortest.AnswersFor(c, busy)
		s, ok := New(c, time.UnixMilli(atMs), closing)
		if !ok {
			t.Fatal("no sample")
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	edgetest.CheckVectors(t, "../../testdata/path-samples.json", map[string]string{
		"tcp, open": encode("0123456789abcdef", measure.TCP, "[::ffff:192.0.2.7]:443", 1700000000000, visitortest.ReadingTCP, 480*ms, false),
		"quic, closing, IPv6": encode("fedcba9876543210", measure.QUIC, "[2001:db8::1%eth0]:443", 1700000000123,
			visitortest.ReadingQUIC, 455*ms, true),
		"tcp, closing, no rate: the program was the limit": encode("0123456789abcdef", measure.TCP, "192.0.2.7:1",
			1700000005000, visitortest.ReadingNoRate, 203*ms, true),
		"quic, open, no RTT measured": encode("00000000000000ff", measure.QUIC, "198.51.100.200:1", 1700000010000,
			visitortest.ReadingNoRTT, 1900*time.Microsecond, false),
		"tcp, closing, nothing known": encode("00000000000000aa", measure.TCP, "127.0.0.1:1", 1700000020000, measure.Reading{}, 0, true),
	})
}
