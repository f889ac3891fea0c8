package connpath

import (
	"encoding/json"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

func TestPathSampleVectors(t *testing.T) {
	encode := func(id string, tr Transport, client string, atMs int64, r Reading, busy time.Duration, closing bool) string {
		c := fake(id, tr, client, r, true)
		answersFor(c, busy)
		s, ok := newSample(c, time.UnixMilli(atMs), closing)
		if !ok {
			t.Fatal("no sample")
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	edgetest.CheckVectors(t, "../testdata/path-samples.json", map[string]string{
		"tcp, open": encode("0123456789abcdef", TCP, "[::ffff:192.0.2.7]:443", 1700000000000, readingTCP, 480*ms, false),
		"quic, closing, IPv6": encode("fedcba9876543210", QUIC, "[2001:db8::1%eth0]:443", 1700000000123,
			readingQUIC, 455*ms, true),
		"tcp, closing, no rate: the program was the limit": encode("0123456789abcdef", TCP, "192.0.2.7:1",
			1700000005000, readingNoRate, 203*ms, true),
		"quic, open, no RTT measured": encode("00000000000000ff", QUIC, "198.51.100.200:1", 1700000010000,
			readingNoRTT, 1900*time.Microsecond, false),
		"tcp, closing, nothing known": encode("00000000000000aa", TCP, "127.0.0.1:1", 1700000020000, Reading{}, 0, true),
	})
}
