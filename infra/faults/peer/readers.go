package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	most    = 4_000_000 // bytes of a response
	longest = 60        // seconds that a response may last
	slice   = 100 * time.Millisecond
)

var (
	rates    = []int{30_000, 100_000, 300_000, 1_000_000, 2_000_000} // bytes a second
	visitors = []int{10, 100, 400}
)

// readersRow is one line of the output.
type readersRow struct {
	Protocol  string  `json:"protocol"`
	Rate      int     `json:"bytesPerSecond"`
	Visitors  int     `json:"visitors"`
	Whole     int     `json:"whole"`
	Cut       int     `json:"cut"`
	Refused   int     `json:"refused"` // a 503
	Unread    int     `json:"unread"`  // who do not read
	Seconds   float64 `json:"seconds"`
	WorkerdMB int     `json:"workerdMB,omitempty"` // the most memory that the process had so far
}

var errRefused = errors.New("refused")

// slowSite is whom slow readers visit.
type slowSite struct {
	site, ca    string
	unread, pid int
}

// readers puts visitors who read slowly on a site, and beside them some who do not read, and says who got the whole response. Each
// visitor has a loopback address of its own. It prints a line of JSON for each rate, number of visitors and protocol, and on
// standard error why a response was cut.
func readers(args []string) error {
	var s slowSite
	flags := flag.NewFlagSet("readers", flag.ExitOnError)
	protocols := flags.String("protocols", "h1,h2,h3", "what to ask over")
	flags.StringVar(&s.site, "site", "https://127.0.0.1:8443", "the site, whose /image/N has N bytes")
	flags.StringVar(&s.ca, "ca", ".adaptive-h3/dev-cert.pem", "PEM `FILE` of its certificate")
	flags.IntVar(&s.unread, "unread", 0, "`N` clients more who do not read")
	flags.IntVar(&s.pid, "pid", 0, "process `ID` of workerd, for its memory")
	_ = flags.Parse(args)
	out := json.NewEncoder(os.Stdout)
	for protocol := range strings.SplitSeq(*protocols, ",") {
		for _, rate := range rates {
			for _, n := range visitors {
				_ = out.Encode(s.visit(protocol, rate, n))
			}
		}
	}
	return nil
}

func (s slowSite) visit(protocol string, rate, n int) readersRow {
	r := readersRow{Protocol: protocol, Rate: rate, Visitors: n, Unread: s.unread}
	began := time.Now()
	var all sync.WaitGroup
	var mu sync.Mutex
	over := make(chan struct{})
	for i := range n {
		all.Go(func() {
			err := s.load(protocol, fmt.Sprintf("127.1.%d.%d", i/250, i%250+1), func(body io.Reader) (int64, error) { return readAt(body, rate) }, min(most, longest*rate))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				r.Whole++
			case errors.Is(err, errRefused):
				r.Refused++
			default:
				r.Cut++
				fmt.Fprintln(os.Stderr, err)
			}
		})
	}
	var others sync.WaitGroup
	for i := range s.unread {
		others.Go(func() {
			_ = s.load(protocol, fmt.Sprintf("127.2.%d.%d", i/250, i%250+1), func(io.Reader) (int64, error) { <-over; return 0, nil }, 1_000_000_000)
		})
	}
	all.Wait()
	close(over)
	others.Wait()
	r.Seconds, r.WorkerdMB = time.Since(began).Seconds(), memoryOf(s.pid, "VmHWM")>>10
	return r
}

func (s slowSite) load(protocol, from string, take func(io.Reader) (int64, error), size int) error {
	transport, end, err := newTransport(connecting{protocol: protocol, caFile: s.ca, from: from, dialTimeout: time.Minute})
	if err != nil {
		return err
	}
	defer end()
	res, err := (&http.Client{Transport: transport}).Get(fmt.Sprintf("%s/image/%d", s.site, size))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusServiceUnavailable {
		return errRefused
	}
	got, err := take(res.Body)
	if err == nil && got != int64(size) {
		err = fmt.Errorf("%d bytes of %d", got, size)
	}
	return err
}

// readAt reads at a rate until the end.
func readAt(body io.Reader, rate int) (got int64, err error) {
	each := int64(rate) * int64(slice) / int64(time.Second)
	for err == nil {
		time.Sleep(slice)
		var n int64
		n, err = io.CopyN(io.Discard, body, each)
		got += n
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return got, err
}
