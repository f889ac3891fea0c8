package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"testing"
	"time"
)

// vector is one case of the files that the TypeScript side is tested with, too.
type vector struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// checkVectors compares what is encoded with the file, byte for byte but for white space.
func checkVectors(t *testing.T, path string, encoded map[string]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != len(encoded) {
		t.Errorf("%d vectors, %d cases", len(vectors), len(encoded))
	}
	for _, v := range vectors {
		var want bytes.Buffer
		if err := json.Compact(&want, v.JSON); err != nil {
			t.Fatal(err)
		}
		if got := encoded[v.Name]; got != want.String() {
			t.Errorf("%s:\n got %s\nwant %s", v.Name, got, want.String())
		}
	}
}

const us = time.Microsecond

var (
	readingTCP = reading{
		rtt: 12_345 * us, minRTT: 10_000 * us, packetsSent: 700, packetsLost: 3, bytesSent: 1_000_000, deliveryRate: 5_000_000,
	}
	readingQUIC = reading{
		rtt: 51*us + 900*time.Nanosecond, minRTT: 40 * us, packetsSent: 830, bytesSent: 1_062_000, deliveryRate: 125_000_000,
	}
	readingNoRate = reading{rtt: 101_200 * us, minRTT: 100_001 * us, packetsSent: 12, bytesSent: 9000, rawDeliveryRate: 90_000}
	readingNoRTT  = reading{packetsSent: 5, packetsLost: 1, bytesSent: 6400}
)

func fakeConnection(id string, tr transport, client string, r reading, ok bool) *connection {
	c := newConnection(tr, time.UnixMilli(0))
	c.id = id
	c.client = func() netip.Addr { return clientAddr(netip.MustParseAddrPort(client)) }
	c.read = func() (reading, bool) { return r, ok }
	c.answering.Store(true)
	return c
}

func TestCFVectors(t *testing.T) {
	encode := func(major int, version, cipher uint16, accept []string, id string, tr transport, r reading, ok bool) string {
		req := &http.Request{
			ProtoMajor: major, ProtoMinor: 1, Header: http.Header{"Accept-Encoding": accept},
			TLS: &tls.ConnectionState{Version: version, CipherSuite: cipher},
		}
		blob := newCFBlob(req, fakeConnection(id, tr, "192.0.2.7:1", r, ok), r, ok)
		return blob.encode()
	}
	checkVectors(t, "testdata/cf.json", map[string]string{
		"HTTP/2 over TCP": encode(2, tls.VersionTLS13, tls.TLS_AES_128_GCM_SHA256, []string{"gzip, deflate, br", "zstd"},
			"0123456789abcdef", transportTCP, readingTCP, true),
		"HTTP/3 over QUIC": encode(3, tls.VersionTLS13, tls.TLS_CHACHA20_POLY1305_SHA256, []string{"gzip, br"},
			"fedcba9876543210", transportQUIC, readingQUIC, true),
		"HTTP/1.1, TLS 1.2, first request: no rate yet, no Accept-Encoding": encode(1, tls.VersionTLS12,
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, nil, "00000000000000ff", transportTCP,
			reading{rtt: readingNoRate.rtt, minRTT: readingNoRate.minRTT}, true),
		"HTTP/3, no RTT measured": encode(3, tls.VersionTLS13, tls.TLS_AES_128_GCM_SHA256, []string{"br"},
			"00000000000000aa", transportQUIC, readingNoRTT, true),
		"the connection could not be read": encode(2, tls.VersionTLS13, tls.TLS_AES_256_GCM_SHA384, []string{"\"\xff\\"},
			"00000000000000bb", transportTCP, reading{}, false),
	})
}

func TestPathSampleVectors(t *testing.T) {
	encode := func(id string, tr transport, client string, atMs int64, r reading, closing bool) string {
		s, ok := newPathSample(fakeConnection(id, tr, client, r, true), time.UnixMilli(atMs), closing)
		if !ok {
			t.Fatal("no sample")
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	checkVectors(t, "testdata/path-samples.json", map[string]string{
		"tcp, open": encode("0123456789abcdef", transportTCP, "[::ffff:192.0.2.7]:443", 1700000000000, readingTCP, false),
		"quic, closing, IPv6": encode("fedcba9876543210", transportQUIC, "[2001:db8::1%eth0]:443", 1700000000123,
			readingQUIC, true),
		"tcp, closing, no rate: the program was the limit": encode("0123456789abcdef", transportTCP, "192.0.2.7:1",
			1700000005000, readingNoRate, true),
		"quic, open, no RTT measured": encode("00000000000000ff", transportQUIC, "198.51.100.200:1", 1700000010000,
			readingNoRTT, false),
		"tcp, closing, nothing known": encode("00000000000000aa", transportTCP, "127.0.0.1:1", 1700000020000, reading{}, true),
	})
}

func BenchmarkCFBlob(b *testing.B) {
	req := &http.Request{
		ProtoMajor: 2, Header: http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}},
		TLS: &tls.ConnectionState{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256},
	}
	c := fakeConnection("0123456789abcdef", transportTCP, "192.0.2.7:1", readingTCP, true)
	b.ReportAllocs()
	for b.Loop() {
		blob := newCFBlob(req, c, readingTCP, true)
		_ = blob.encode()
	}
}

func BenchmarkServerTiming(b *testing.B) {
	c := fakeConnection("0123456789abcdef", transportTCP, "192.0.2.7:1", readingTCP, true)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		_ = serverTiming(c, readingTCP, now)
	}
}
