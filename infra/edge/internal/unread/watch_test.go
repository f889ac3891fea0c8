package unread

import (
	"fmt"
	"io"
	"net/netip"
	"slices"
	"testing"
	"time"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/errorlog"
)

var start = time.Unix(1_000_000, 0)

// scene is a watch whose time passes as a test says.
type scene struct {
	t       *testing.T
	watch   *Watch
	now     time.Time
	ended   []string
	aborted []string
}

func newScene(t *testing.T, limits Limits) *scene {
	if limits.Total == 0 {
		limits.Total, limits.PerClient = 1000, 1000
	}
	return &scene{t: t, now: start, watch: NewWatch(limits, &connpath.Registry{}, errorlog.New(io.Discard))}
}

// connection makes one of a client that has taken *taken bytes. Only TCP's can be aborted.
func (s *scene) connection(transport connpath.Transport, client string, taken *uint64) *connpath.Connection {
	c := connpath.New(transport, netip.MustParseAddr(client), nil, start)
	c.Taken = func() uint64 { return *taken }
	if transport == connpath.TCP {
		c.Abort = func() { s.aborted = append(s.aborted, client); s.watch.registry.Remove(c) }
	}
	s.watch.registry.Add(c)
	return c
}

// response adds a response whose write is under way.
func (s *scene) response(name string, c *connpath.Connection) *Response {
	r := &Response{Conn: c, Stream: &stream{s, name}}
	r.Begin()
	s.watch.Add(r)
	return r
}

type stream struct {
	scene *scene
	name  string
}

func (s *stream) Reset() { s.scene.ended = append(s.scene.ended, s.name) }

// pass lets time pass, with a look each second; each runs before a look.
func (s *scene) pass(d time.Duration, each func()) {
	for end := s.now.Add(d); s.now.Before(end); {
		s.now = s.now.Add(time.Second)
		if each != nil {
			each()
		}
		s.watch.lookAtConnections(s.now)
		s.watch.lookAtResponses(s.now)
	}
}

func (s *scene) expect(ended ...string) {
	s.t.Helper()
	if !slices.Equal(s.ended, ended) {
		s.t.Errorf("after %s ended: %q, want %q", s.now.Sub(start), s.ended, ended)
	}
}

const timeout = time.Minute

func TestUnreadResponseIsEnded(t *testing.T) {
	s := newScene(t, Limits{Timeout: timeout, Rate: 1000})
	taken := uint64(0)
	s.response("unread", s.connection(connpath.QUIC, "192.0.2.1", &taken))
	s.pass(timeout, nil)
	s.expect()
	s.pass(2*time.Second, nil)
	s.expect("unread")
	s.pass(timeout, nil)
	s.expect("unread") // once
}

// An origin that pauses keeps nobody waiting: no write is under way.
func TestQuietOriginIsNoUnreadResponse(t *testing.T) {
	s := newScene(t, Limits{Timeout: timeout, Rate: 1000})
	taken := uint64(0)
	r := s.response("events", s.connection(connpath.QUIC, "192.0.2.1", &taken))
	r.End()
	s.pass(10*timeout, nil)
	// Each event is a write, however long the whole takes.
	s.pass(10*timeout, func() { r.Begin(); r.End() })
	// A write that is under way at every look, and is another one each time.
	r.Begin()
	s.pass(10*timeout, func() { r.End(); r.Begin() })
	s.expect()
}

// A client that takes bytes at the rate is slow, and gets its response. Below the rate it does not.
func TestSlowestRate(t *testing.T) {
	for _, test := range []struct {
		rate  uint64 // bytes a second
		ended bool
	}{{0, true}, {900, true}, {1100, false}, {100_000, false}} {
		s := newScene(t, Limits{Timeout: timeout, Rate: 1000})
		taken := uint64(0)
		s.response("slow", s.connection(connpath.QUIC, "192.0.2.1", &taken))
		s.pass(3*timeout, func() { taken += test.rate })
		if got := len(s.ended) > 0; got != test.ended {
			t.Errorf("%d bytes a second: ended %t", test.rate, got)
		}
	}
}

// The rate counts anew in every timeout: what a client took at first does not excuse it for ever.
func TestRateCountsAnew(t *testing.T) {
	s := newScene(t, Limits{Timeout: timeout, Rate: 1000})
	taken := uint64(0)
	s.response("stalled", s.connection(connpath.QUIC, "192.0.2.1", &taken))
	s.pass(timeout, func() { taken += 1_000_000 })
	s.pass(timeout+time.Second, nil)
	s.expect("stalled")
}

// A client that takes one response must not leave the others of its connection waiting for ever.
func TestOneStreamDoesNotExcuseTheOthers(t *testing.T) {
	s := newScene(t, Limits{Timeout: timeout, Rate: 1000})
	taken := uint64(0)
	c := s.connection(connpath.QUIC, "192.0.2.1", &taken)
	s.response("closed window", c)
	read := s.response("read", c)
	reading := func() { taken += 50_000; read.End(); read.Begin() }
	s.pass(alone*timeout, reading)
	s.expect()
	s.pass(2*time.Second, reading)
	s.expect("closed window")
}

// Where the socket itself waits, as over HTTP/1.1 and for websockets, the connection ends.
func TestUnreadConnectionIsAborted(t *testing.T) {
	s := newScene(t, Limits{Timeout: timeout, Rate: 1000})
	taken, slow := uint64(0), uint64(0)
	s.connection(connpath.TCP, "192.0.2.1", &taken).Writes.Begin()
	s.connection(connpath.TCP, "192.0.2.2", &slow).Writes.Begin()
	s.connection(connpath.TCP, "192.0.2.3", &taken)
	s.pass(3*timeout, func() { slow += 2000 })
	if !slices.Equal(s.aborted, []string{"192.0.2.1"}) {
		t.Errorf("aborted: %q", s.aborted)
	}
	if len(s.watch.sockets) != 1 {
		t.Errorf("%d sockets are remembered", len(s.watch.sockets))
	}
}

// Above its share a client loses the responses that wait longest; other clients lose none.
func TestShareOfAClient(t *testing.T) {
	s := newScene(t, Limits{Timeout: timeout, Rate: 1000, Total: 100, PerClient: 3})
	taken := uint64(0)
	attacker := s.connection(connpath.QUIC, "192.0.2.66", &taken)
	visitors := s.connection(connpath.QUIC, "192.0.2.1", &taken)
	s.response("visitor", visitors)
	for i := range 5 {
		s.response(fmt.Sprint(i), attacker)
		s.pass(time.Second, nil)
	}
	s.expect() // nobody knows yet
	s.pass(2*lateness, nil)
	s.expect("0", "1")
}

// Above the total the client that has the most loses the response that waits longest.
func TestTotal(t *testing.T) {
	s := newScene(t, Limits{Timeout: timeout, Rate: 1000, Total: 4, PerClient: 4})
	taken := uint64(0)
	a, b := s.connection(connpath.QUIC, "192.0.2.66", &taken), s.connection(connpath.QUIC, "192.0.2.1", &taken)
	s.response("b0", b)
	s.pass(2*time.Second, nil)
	for i := range 4 {
		s.response(fmt.Sprintf("a%d", i), a)
		s.pass(time.Second, nil)
	}
	s.pass(2*lateness, nil)
	s.expect("a0")
}

// However many wait, those whose clients read are not ended: not the slowest that may be, and not those that share a connection.
func TestWhoReadsIsNotEnded(t *testing.T) {
	const most = 10
	for _, tc := range []struct {
		name                string
		clients, responses  int // of each client, on one connection
		rate                uint64
		burst               int // seconds between acknowledgements: the kernel of a slow client makes room now and then
		unread, endedOfThem int // as soon as anybody can know
	}{
		{"400 clients at 30 kB/s", 400, 1, 30_000, 3, 0, 0},
		{"400 clients at the slowest rate", 400, 1, 1100, 1, 0, 0},
		{"one client with 100 responses", 1, 100, 110_000, 1, 0, 0},
		{"beside some who do not read", 100, 1, 30_000, 3, 20, 20},
		{"beside few who read", 5, 1, 30_000, 3, 20, 15},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene(t, Limits{Timeout: timeout, Rate: 1000, Total: most, PerClient: most})
			taken, stuck := uint64(0), uint64(0)
			for i := range tc.clients {
				c := s.connection(connpath.QUIC, fmt.Sprintf("10.0.%d.%d", i/250, i%250), &taken)
				for j := range tc.responses {
					s.response(fmt.Sprintf("read %d %d", i, j), c)
				}
			}
			for i := range tc.unread {
				s.response("unread", s.connection(connpath.QUIC, fmt.Sprintf("10.1.0.%d", i), &stuck))
			}
			seconds, due := 0, uint64(0)
			read := func() {
				due += tc.rate
				if seconds++; seconds%tc.burst == 0 {
					taken, due = taken+due, 0
				}
			}
			s.pass(2*lateness, read)
			if len(s.ended) != tc.endedOfThem {
				t.Errorf("after %s %d are ended", 2*lateness, len(s.ended))
			}
			s.pass(4*timeout-3*lateness, read)
			if want := slices.Repeat([]string{"unread"}, len(s.ended)); !slices.Equal(s.ended, want) {
				t.Errorf("%d are ended, the last %q", len(s.ended), s.ended[len(s.ended)-1])
			}
		})
	}
}

// While the socket of a TCP connection waits, a reset of one stream would wait too: the connection ends.
func TestLimitsReachAStuckConnection(t *testing.T) {
	s := newScene(t, Limits{Timeout: timeout, Rate: 1000, Total: 1, PerClient: 1})
	taken := uint64(0)
	c := s.connection(connpath.TCP, "192.0.2.66", &taken)
	c.Writes.Begin()
	s.response("0", c)
	s.response("1", c)
	s.pass(2*lateness, nil)
	s.expect()
	if len(s.aborted) != 1 {
		t.Errorf("aborted: %q", s.aborted)
	}
}

func TestAddAndRemove(t *testing.T) {
	s := newScene(t, Limits{Timeout: timeout, Rate: 1000})
	taken := uint64(0)
	c := s.connection(connpath.QUIC, "192.0.2.1", &taken)
	responses := []*Response{s.response("0", c), s.response("1", c), s.response("2", c), s.response("3", c)}
	for _, i := range []int{1, 3, 0} {
		s.watch.Remove(responses[i])
	}
	s.pass(2*timeout, nil)
	s.expect("2")
	s.watch.Remove(responses[2])
	if s.watch.first != nil {
		t.Error("something is left")
	}
}

func TestDefaults(t *testing.T) {
	for memory, want := range map[uint64]int{0: 64, 512 << 20: 64, 4 << 30: 170, 24 << 30: 1024} {
		if got := DefaultTotal(memory); got != want {
			t.Errorf("%d bytes: %d, want %d", memory, got, want)
		}
	}
	if DefaultPerClient(64) != 64 || DefaultPerClient(1024) != 128 {
		t.Error(DefaultPerClient(64), DefaultPerClient(1024))
	}
	if m := Memory(); m < 64<<20 {
		t.Errorf("this machine has %d bytes of memory", m)
	}
}
