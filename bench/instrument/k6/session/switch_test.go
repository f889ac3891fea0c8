package session

import (
	"fmt"
	"net"
	"net/http"
	"reflect"
	"testing"
	"time"

	"adaptive-h3/bench/instrument/k6/testsite"
)

func TestWaitingForTheNewConnection(t *testing.T) {
	site := testsite.Start(t)
	site.Offer(fmt.Sprintf(`h3=":%d"; ma=60`, site.Port))
	for _, first := range []Protocol{H1, H2} {
		t.Run(string(first), func(t *testing.T) {
			s := open(t, site, func(c *Config) { c.FirstProtocol = first })
			load(t, s, "/bytes/1", "/bytes/2", "/bytes/3")
			report := s.Report()
			if got := report.Protocols; !reflect.DeepEqual(got, []Protocol{first, H3, H3}) {
				t.Errorf("protocols %v", got)
			}
			if len(report.Connections) != 2 || !report.Switched || report.SwitchHandshake != report.Connections[1].Handshake {
				t.Errorf("connections and switch: %+v", report)
			}
			for i, c := range report.Connections {
				if c.Handshake <= 0 {
					t.Errorf("connection %d: %+v", i, c)
				}
			}
			if report.FirstByte < report.Connections[0].Handshake || report.FirstByte > report.Pages[0] {
				t.Errorf("first byte after %v of %v", report.FirstByte, report.Pages[0])
			}
		})
	}
}

func TestGoingOnInTheBackground(t *testing.T) {
	site := testsite.Start(t)
	held := site.Hold()
	site.Offer(fmt.Sprintf(`h3=":%d"`, site.Port))
	s := open(t, site, func(c *Config) { c.Switch = "background" })
	load(t, s, "/bytes/1", "/bytes/2")
	if report := s.Report(); !reflect.DeepEqual(report.Protocols, []Protocol{H2, H2}) || report.Switched {
		t.Fatalf("while the new connection is being opened: %+v", report)
	}
	close(held)
	s.mu.Lock()
	attempt := s.quicAttempt()
	s.mu.Unlock()
	<-attempt.done
	load(t, s, "/bytes/3")
	report := s.Report()
	if got := report.Protocols; !reflect.DeepEqual(got, []Protocol{H2, H2, H3}) || !report.Switched || report.SwitchHandshake == 0 {
		t.Errorf("with the new connection there: %+v", report)
	}
}

func TestClosingWhileAConnectionIsBeingOpened(t *testing.T) {
	site := testsite.Start(t)
	held := site.Hold()
	defer close(held)
	site.Offer(fmt.Sprintf(`h3=":%d"`, site.Port))
	s := open(t, site, func(c *Config) { c.Switch = "background" })
	load(t, s, "/bytes/1", "/bytes/2")
	s.Close()
	if report := s.Report(); report.Broken || report.SwitchHandshake != 0 {
		t.Errorf("an attempt that the end interrupted: %+v", report)
	}
}

func TestAReturnBeginsWhereItsOfferSays(t *testing.T) {
	site := testsite.Start(t)
	site.Offer(fmt.Sprintf(`h3=":%d"; ma=60`, site.Port))
	now := time.Now()
	s := open(t, site, func(c *Config) { c.Now = func() time.Time { return now } })
	load(t, s, "/bytes/1")
	for _, want := range []struct {
		after       time.Duration
		protocol    Protocol
		connections int
	}{{30 * time.Second, H3, 2}, {31 * time.Second, H3, 3}, {61 * time.Second, H2, 4}} {
		s.Leave()
		now = now.Add(want.after)
		load(t, s, "/bytes/2")
		report := s.Report()
		if got := report.Protocols[len(report.Protocols)-1]; got != want.protocol || len(report.Connections) != want.connections {
			t.Errorf("after %v: %s over %d connections, want %s over %d", want.after, got, len(report.Connections), want.protocol, want.connections)
		}
	}
	s.Leave()
	for i, connection := range s.connections {
		if connection.alive() {
			t.Errorf("connection %d is open after the client has left", i)
		}
	}
}

func TestBrokenAlternative(t *testing.T) {
	// Nobody reads of this socket: what a firewall that swallows UDP looks like.
	silent, err := net.ListenPacket("udp", testsite.Address+":0")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.ListenPacket("udp", testsite.Address+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed.Close()
	site := testsite.Start(t)
	for name, udp := range map[string]net.PacketConn{"UDP is swallowed": silent, "nobody listens": closed} {
		t.Run(name, func(t *testing.T) {
			site.Offer(fmt.Sprintf(`h3=":%d"`, udp.LocalAddr().(*net.UDPAddr).Port))
			const timeoutMs = 100
			s := open(t, site, func(c *Config) { c.QUICTimeoutMs = timeoutMs })
			load(t, s, "/bytes/1", "/bytes/2", "/bytes/3")
			report := s.Report()
			if !report.Broken || report.Switched || len(report.Connections) != 1 {
				t.Errorf("after the fall-back: %+v", report)
			}
			if report.Pages[0] < timeoutMs {
				t.Errorf("the page took %v, less than the wait for the alternative", report.Pages[0])
			}
			// Offered again, the alternative stays broken: no second wait, no second attempt.
			attempts := len(s.quic)
			load(t, s, "/bytes/4")
			if report := s.Report(); !report.Broken || len(s.quic) != attempts || report.Protocols[3] != H2 {
				t.Errorf("the next page: %+v", report)
			}
			// On a return too: browsers try it again after five minutes.
			s.Leave()
			load(t, s, "/bytes/5")
			if report := s.Report(); len(s.quic) != attempts || report.Protocols[4] != H2 {
				t.Errorf("a return: %+v", report)
			}
		})
	}
	t.Run("another alternative is there", func(t *testing.T) {
		site.Offer(fmt.Sprintf(`h3=":%d", h3=":%d"`, closed.LocalAddr().(*net.UDPAddr).Port, site.Port))
		s := open(t, site, func(c *Config) { c.QUICTimeoutMs = 1000 })
		load(t, s, "/bytes/1", "/bytes/2")
		if report := s.Report(); !report.Broken || report.Protocols[1] != H3 {
			t.Errorf("%+v", report)
		}
	})
	t.Run("a session that begins with HTTP/3", func(t *testing.T) {
		held := site.Hold()
		defer close(held)
		s := open(t, site, func(c *Config) {
			c.FirstProtocol, c.QUICTimeoutMs, c.Switch = H3, 100, "background"
		})
		load(t, s, "/bytes/1")
		if report := s.Report(); !report.Broken || report.Protocols[0] != H2 {
			t.Errorf("%+v", report)
		}
	})
}

// As Chromium does: see route.
func TestLeavingHTTP3(t *testing.T) {
	site := testsite.Start(t)
	offer := fmt.Sprintf(`h3=":%d"; ma=60`, site.Port)
	for _, test := range []struct {
		name    string
		altSvc  []string // of the responses, in order
		age     string
		advance time.Duration // after the second page
		want    []Protocol
	}{
		{"the alternative stays", []string{offer, offer, offer}, "0", time.Second, []Protocol{H2, H3, H3}},
		{"no field removes nothing", []string{offer, "", ""}, "0", time.Second, []Protocol{H2, H3, H3}},
		{"clear on HTTP/3", []string{offer, "clear", ""}, "0", 0, []Protocol{H2, H3, H2}},
		{"ma runs out", []string{offer, "", ""}, "0", time.Minute, []Protocol{H2, H3, H2}},
		{"ma runs out earlier by Age", []string{offer, "", ""}, "50", 10 * time.Second, []Protocol{H2, H3, H2}},
		{"a new field counts anew", []string{offer, offer, ""}, "0", 59 * time.Second, []Protocol{H2, H3, H3}},
		{"an alternative of another protocol", []string{fmt.Sprintf(`h2=":%d"`, site.Port), "", ""}, "0", 0, []Protocol{H2, H2, H2}},
		{"a malformed field", []string{`h3=443`, "", ""}, "0", 0, []Protocol{H2, H2, H2}},
		{"another host", []string{fmt.Sprintf(`h3="%s:%d"`, testsite.Address, site.Port), "", ""}, "0", 0, []Protocol{H2, H3, H3}},
		{"back and forth", []string{offer, "clear", offer, "", "clear", ""}, "0", 0, []Protocol{H2, H3, H2, H3, H3, H2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			next := 0
			site.OfferBy(func() []string {
				value := test.altSvc[next]
				next++
				if value == "" {
					return nil
				}
				return []string{value}
			})
			site.Handle(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Age", test.age) })
			now := time.Unix(1_800_000_000, 0)
			s := open(t, site, func(c *Config) { c.Now = func() time.Time { return now } })
			for i := range test.want {
				load(t, s, "/bytes/1")
				if i == 1 {
					now = now.Add(test.advance)
				}
			}
			if got := s.Report().Protocols; !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if n := len(s.Report().Connections); n > 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestClearOfASessionThatBeganWithHTTP3(t *testing.T) {
	site := testsite.Start(t)
	site.Offer("clear")
	s := open(t, site, func(c *Config) { c.FirstProtocol = H3 })
	load(t, s, "/bytes/1", "/bytes/2")
	report := s.Report()
	if got := report.Protocols; !reflect.DeepEqual(got, []Protocol{H3, H2}) || report.Switched || report.SwitchHandshake != 0 {
		t.Errorf("%+v", report)
	}
}

// RFC 7838, section 6.
func TestAltSvcOfA421IsIgnored(t *testing.T) {
	site := testsite.Start(t)
	site.Offer(fmt.Sprintf(`h3=":%d"`, site.Port))
	s := open(t, site, nil)
	if err := s.LoadPage("/status/421"); err == nil {
		t.Error("421 is a failure")
	}
	if fresh := s.cache.Fresh(time.Now()); fresh != nil {
		t.Errorf("the cache has %v", fresh)
	}
}
