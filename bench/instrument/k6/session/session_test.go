package session

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/k6/testsite"
)

var allProtocols = []Protocol{H1, H2, H3}

func TestAPageOverEachProtocol(t *testing.T) {
	site := testsite.Start(t)
	for _, protocol := range allProtocols {
		t.Run(string(protocol), func(t *testing.T) {
			began := len(site.Requests())
			s := open(t, site, func(c *Config) {
				c.FirstProtocol, c.ClientAddress = protocol, netip.MustParseAddr("127.0.0.2")
			})
			load(t, s, "/bytes/1000", "/bytes/200000")
			load(t, s, "/bytes/0")
			report := s.Report()
			if got := report.Protocols; !reflect.DeepEqual(got, []Protocol{protocol, protocol, protocol}) {
				t.Errorf("protocols %v", got)
			}
			if len(report.Connections) != 1 || report.Connections[0].Protocol != protocol || report.Switched {
				t.Errorf("connections %+v", report.Connections)
			}
			if report.Bytes != 201_000 {
				t.Errorf("%d bytes", report.Bytes)
			}
			if len(report.Pages) != 2 {
				t.Errorf("pages %v", report.Pages)
			}
			for i, dest := range []string{"document", "image", "document"} {
				got := site.Requests()[began+i]
				if got.Client.String() != "127.0.0.2" || got.Resumed || got.Protocol != string(protocol) {
					t.Errorf("the server saw %+v", got)
				}
				if got.Header.Get("Sec-Fetch-Dest") != dest || got.Header.Get("Accept-Encoding") != "identity" {
					t.Errorf("header %v", got.Header)
				}
				if navigate := got.Header.Get("Sec-Fetch-Mode") == "navigate"; navigate != (dest == "document") {
					t.Errorf("header %v", got.Header)
				}
			}
		})
	}
}

func TestSubresourcesInParallel(t *testing.T) {
	site := testsite.Start(t)
	const parallel = 3
	for _, protocol := range allProtocols {
		t.Run(string(protocol), func(t *testing.T) {
			var (
				mu       sync.Mutex
				underWay int
				together = make(chan struct{}) // closed once as many as allowed are under way
			)
			site.Handle(func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/bytes/0" {
					return
				}
				mu.Lock()
				underWay++
				if underWay == parallel {
					close(together)
				}
				mu.Unlock()
				select {
				case <-together:
				case <-r.Context().Done():
				}
			})
			s := open(t, site, func(c *Config) { c.FirstProtocol, c.Parallel = protocol, parallel })
			load(t, s, "/bytes/0", slices.Repeat([]string{"/bytes/9"}, parallel)...)
			load(t, s, "/bytes/0", slices.Repeat([]string{"/bytes/0"}, 2*parallel)...)
			want := map[Protocol]int{H1: parallel, H2: 1, H3: 1}[protocol]
			if got := len(s.Report().Connections); got != want {
				t.Errorf("%d connections, want %d", got, want)
			}
		})
	}
}

func TestNoMoreInParallelThanAllowed(t *testing.T) {
	site := testsite.Start(t)
	var (
		mu             sync.Mutex
		underWay, most int
	)
	site.Handle(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		underWay++
		most = max(most, underWay)
		mu.Unlock()
		_ = http.NewResponseController(w).Flush() // gives the others time to come
		mu.Lock()
		underWay--
		mu.Unlock()
	})
	s := open(t, site, func(c *Config) { c.Parallel = 2 })
	load(t, s, "/bytes/0", slices.Repeat([]string{"/bytes/0"}, 40)...)
	if most > 2 {
		t.Errorf("%d at a time", most)
	}
}

func TestFailures(t *testing.T) {
	site := testsite.Start(t)
	for _, protocol := range allProtocols {
		for _, test := range []struct {
			path string
			want string
		}{
			{"/short", "/short over " + string(protocol)},
			{"/status/500", "status 500"},
			{"/status/404", "status 404"},
		} {
			t.Run(string(protocol)+" "+test.path, func(t *testing.T) {
				s := open(t, site, func(c *Config) { c.FirstProtocol = protocol })
				err := s.LoadPage("/bytes/1", "/bytes/2", test.path, "/bytes/3")
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("error %v, want %q", err, test.want)
				}
				if len(s.Report().Pages) != 0 {
					t.Error("a page that failed is none")
				}
			})
		}
	}
}

func TestTheDeadlineEndsEverything(t *testing.T) {
	site := testsite.Start(t)
	site.Handle(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/never":
			<-r.Context().Done()
		case "/half":
			_, _ = w.Write(make([]byte, 100))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})
	for _, protocol := range allProtocols {
		for _, path := range []string{"/never", "/half"} {
			t.Run(string(protocol)+path, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				s, err := Open(ctx, Config{
					Origin:        Origin{Host: "localhost", Port: site.Port, Address: testsite.Address, CAFile: site.CAFile},
					FirstProtocol: protocol, Switch: SwitchWait,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if err := s.LoadPage(path); err == nil || ctx.Err() == nil {
					t.Errorf("error %v, context %v", err, ctx.Err())
				}
			})
		}
	}
}

func TestAConnectionThatTheServerCloses(t *testing.T) {
	site := testsite.Start(t)
	site.Handle(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	s := open(t, site, func(c *Config) { c.FirstProtocol = H1 })
	load(t, s, "/bytes/10")
	load(t, s, "/bytes/10")
	if got := len(s.Report().Connections); got != 2 {
		t.Errorf("%d connections", got)
	}
}

func TestCloseTellsTheServer(t *testing.T) {
	site := testsite.Start(t)
	s := open(t, site, func(c *Config) { c.FirstProtocol = H3 })
	load(t, s, "/bytes/10")
	s.Close()
	conn := site.QUIC()[0]
	select {
	case <-conn.Context().Done():
	case <-time.After(patience):
		t.Fatal("the server's connection is still open")
	}
	var closed *quic.ApplicationError
	if err := context.Cause(conn.Context()); !errors.As(err, &closed) || !closed.Remote ||
		closed.ErrorCode != quic.ApplicationErrorCode(http3.ErrCodeNoError) {
		t.Errorf("the server's connection ended with %v", err)
	}
}

func TestACertificateOfAnotherHost(t *testing.T) {
	site := testsite.Start(t)
	s := open(t, site, func(c *Config) { c.Origin.Host = "example.test" })
	if err := s.LoadPage("/"); err == nil || !strings.Contains(err.Error(), "TLS handshake") {
		t.Errorf("error %v", err)
	}
}

// The kernel books twice what was asked for, and quic-go asks for 7 MiB before.
func TestUDPReceiveBuffer(t *testing.T) {
	socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.SetReadBuffer(150_000); err != nil {
		t.Fatal(err)
	}
	if err := setReceiveBuffer(socket, 100_000); err != nil {
		t.Fatal(err)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var booked int
	_ = raw.Control(func(fd uintptr) {
		booked, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
	})
	if err != nil || booked != 200_000 {
		t.Errorf("%d bytes, %v", booked, err)
	}
	site := testsite.Start(t)
	load(t, open(t, site, func(c *Config) { c.FirstProtocol, c.UDPReceiveBufferBytes = H3, 100_000 }), "/bytes/200000")
}
