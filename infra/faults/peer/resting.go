package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const atATime = 16 // a server refuses QUIC connections while too many wait to be accepted

// restingRow is what this prints. Memory is resident, of the server's process (proc(5), VmRSS); 0: nobody knows.
type restingRow struct {
	Protocol    string `json:"protocol"`
	Connections int    `json:"connections"`
	Answered    int64  `json:"answered"`
	BeforeKB    int    `json:"beforeKB"`
	AfterKB     int    `json:"afterKB"`
}

// resting opens connections to a site, each with one request, and lets them rest until its standard input ends. It prints a line of
// JSON with what they take of the server's memory. Go's collector lets a program grow to about twice what it uses, so the server is
// read after it had time to give memory back.
func resting(args []string) error {
	flags := flag.NewFlagSet("resting", flag.ExitOnError)
	protocol := flags.String("protocol", "h1", "h1, h2 or h3")
	site := flags.String("site", "https://127.0.0.1:8443/", "a page")
	ca := flags.String("ca", ".adaptive-h3/dev-cert.pem", "PEM `FILE` of its certificate")
	number := flags.Int("connections", 100, "`N` connections")
	from := flags.String("from", "", "one `ADDRESS` of this machine for all (default: each has a loopback address of its own)")
	pid := flags.Int("pid", 0, "process `ID` of the server, for its memory")
	rest := flags.Duration("rest", 0, "`DURATION` between the last connection and the look at the memory")
	_ = flags.Parse(args)
	r := restingRow{Protocol: *protocol, Connections: *number, BeforeKB: memoryOf(*pid, "VmRSS")}
	var answered atomic.Int64
	var all sync.WaitGroup
	places := make(chan struct{}, atATime)
	for i := range *number {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			address := *from
			if address == "" {
				address = fmt.Sprintf("127.3.%d.%d", i/250, i%250+1)
			}
			if err := visitOnce(*site, connecting{protocol: *protocol, caFile: *ca, from: address, dialTimeout: time.Minute, idleTimeout: time.Hour}); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			answered.Add(1)
		})
	}
	all.Wait()
	time.Sleep(*rest)
	r.Answered, r.AfterKB = answered.Load(), memoryOf(*pid, "VmRSS")
	_ = json.NewEncoder(os.Stdout).Encode(r)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// visitOnce makes one connection and loads a page. The process's end closes it.
func visitOnce(site string, how connecting) error {
	transport, _, err := newTransport(how)
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: transport}).Get(site)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}
