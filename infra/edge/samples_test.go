package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/edgetest"
)

const imageSize = 1_000_000

func image(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "image/png")
	w.Write(edgetest.Pattern(imageSize))
}

// noMore says that no further sample comes, by ending the edge, which posts what it has.
func (e *testEdge) noMore() {
	e.t.Helper()
	e.end()
	select {
	case s := <-e.samples:
		e.t.Errorf("a sample too many: %+v", s)
	default:
	}
}

// A session of one image, then closed, and nothing else: exactly its closing sample arrives. Over HTTP/3 a path limits it, because a rate is
// taken only where the network was the limit, and over loopback the copying of a busy machine is.
func TestClosingSample(t *testing.T) {
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, image))
		address, fewestBps, mostBps := e.addresses[0], 1e6, 1e12
		if protocol == "HTTP/3" {
			const rate = 5e6
			address = startRelay(t, address, &udpRelay{delay: 5 * ms, rate: rate, queue: imageSize}).address
			fewestBps, mostBps = rate/2, rate*2
		}
		c := e.client(protocol, address)
		res, body := e.get(c, "/image")
		c.disconnect()
		s := edgetest.Receive(t, "closing sample", e.samples)

		if len(body) != imageSize || !s.Closing || s.ClientAddress != "127.0.0.1" {
			t.Errorf("%+v", s)
		}
		if age := time.Since(time.UnixMilli(s.AtMs)); age < -time.Second || age > edgetest.Patience {
			t.Errorf("taken %v ago", age)
		}
		if !strings.Contains(res.Header.Get("Server-Timing"), "&cid="+s.ConnectionID+"&") {
			t.Errorf("connection %s, but %s", s.ConnectionID, res.Header.Get("Server-Timing"))
		}
		// The sender's count: the image, TLS or QUIC around it, and nothing like a second image.
		if s.BytesSent < imageSize || s.BytesSent > imageSize*12/10 {
			t.Errorf("%d bytes sent", s.BytesSent)
		}
		// Over loopback a TCP segment holds up to 64 KiB; a QUIC packet is of 1,200 to 1,452 bytes.
		transport, fewest, most := "tcp", int64(imageSize/65536), int64(imageSize/500)
		if protocol == "HTTP/3" {
			transport, fewest, most = "quic", imageSize/1452, imageSize/1000
		}
		if s.Transport != transport || s.PacketsSent < fewest || s.PacketsSent > most {
			t.Errorf("%d packets sent over %s", s.PacketsSent, s.Transport)
		}
		if s.PacketsLost < 0 || s.PacketsLost > s.PacketsSent/5 {
			t.Errorf("%d packets lost of %d", s.PacketsLost, s.PacketsSent)
		}
		if s.RTTMs <= 0 || s.RTTMs > 200 || s.MinRTTMs <= 0 || s.MinRTTMs > s.RTTMs*2 {
			t.Errorf("RTT %v ms, min %v ms", s.RTTMs, s.MinRTTMs)
		}
		// Bytes per second: not bits, not kB, not nothing.
		if s.DeliveryRateBps < fewestBps || s.DeliveryRateBps > mostBps {
			t.Errorf("%.0f bytes/s", s.DeliveryRateBps)
		}
		e.noMore()
	})
}

// What the sender counts as lost is what the path dropped.
func TestClosingSampleOverLossyPath(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, image))
	relay := startRelay(t, e.addresses[0], &udpRelay{delay: 5 * ms, loseEvery: 50})
	c := e.client("HTTP/3", relay.address)
	if _, body := e.get(c, "/image"); len(body) != imageSize {
		t.Fatalf("%d bytes", len(body))
	}
	c.disconnect()
	s := edgetest.Receive(t, "closing sample", e.samples)
	dropped := relay.dropped.Load()
	// The last flight's losses may not be known yet, and a busy machine delays acknowledgements beyond the loss timer.
	if dropped < 10 || s.PacketsLost < dropped*7/10 || s.PacketsLost > dropped*3/2+5 {
		t.Errorf("%d lost by count of the sender, %d dropped on the path", s.PacketsLost, dropped)
	}
	if s.BytesSent < imageSize || s.RTTMs < 5 || s.MinRTTMs < 5 {
		t.Errorf("%+v", s)
	}
	e.noMore()
}

// A path that drops nothing loses nothing, though it delays packets beyond their turn, or marks them (RFC 3168).
func TestClosingSampleOfPathThatDropsNothing(t *testing.T) {
	const connections, size = 20, 100_000 // so few packets that a client on a busy machine drops none itself
	for _, tc := range []struct {
		name string
		path *udpRelay
	}{
		{"late packets", &udpRelay{delay: 5 * ms, lateEvery: 33, lateBy: 3 * ms}},
		{"packets marked by ECN", &udpRelay{delay: 5 * ms, markEvery: 10}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/image" {
					w.Write(edgetest.Pattern(size))
				}
			}))
			relay := startRelay(t, e.addresses[0], tc.path)
			var sent, lost int64
			for range connections {
				c := e.client("HTTP/3", relay.address)
				e.get(c, "/image")
				e.get(c, "/") // a round trip, with which the server knows what came
				c.disconnect()
				s := edgetest.Receive(t, "closing sample", e.samples)
				sent, lost = sent+s.PacketsSent, lost+s.PacketsLost
			}
			if troubled := relay.late.Load() + relay.marked.Load(); troubled < 2*connections || relay.dropped.Load() != 0 {
				t.Fatalf("the path was not as it should be: %d late or marked, %d dropped", troubled, relay.dropped.Load())
			}
			if lost > sent/1000 {
				t.Errorf("%d lost of %d", lost, sent)
			}
		})
	}
}

// Rest between requests does not count, and requests at the same time count once.
func TestClosingSampleSaysForHowLongResponsesWereUnderWay(t *testing.T) {
	const lasts, rest = 200 * ms, 200 * ms
	forProtocols(t, func(t *testing.T, protocol string) {
		e := startEdgeWith(t, edgetest.StartUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(lasts)
			w.Write([]byte("late"))
		}))
		c := e.client(protocol)
		began := time.Now()
		e.get(c, "/")
		time.Sleep(rest)
		atOnce := 3
		if protocol == "HTTP/1.1" {
			atOnce = 1
		}
		var asking sync.WaitGroup
		for range atOnce {
			asking.Go(func() {
				res, err := c.Get(e.url("/"))
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
			})
		}
		asking.Wait()
		// A handler may return a little later than its client has the response.
		most := time.Since(began) - rest/2
		c.disconnect()
		s := edgetest.Receive(t, "closing sample", e.samples)
		if s.BusyMs < 2*lasts.Milliseconds() || s.BusyMs > most.Milliseconds() {
			t.Errorf("%d ms, want %v to %v", s.BusyMs, 2*lasts, most)
		}
		e.noMore()
	})
}

func TestNoSampleWithoutRequest(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, image))
	c := e.rawTLS()
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	c.Close()
	e.noMore()
}

// A websocket's connection is hijacked from net/http, and sampled all the same.
func TestClosingSampleOfWebsocket(t *testing.T) {
	e := startEdgeWith(t, edgetest.StartUpstream(t, echoUpgrade))
	c := e.openWebsocket("/")
	message := edgetest.Pattern(50_000)
	go c.Write(message)
	if _, err := io.ReadFull(c, make([]byte, len(message))); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if s := edgetest.Receive(t, "closing sample", e.samples); s.BytesSent < 50_000 || !s.Closing {
		t.Errorf("%+v", s)
	}
}
