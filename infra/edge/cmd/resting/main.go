// Resting opens connections to a site, each with one request, and lets them rest until its standard input ends. It prints a line of
// JSON with what they take of the server's memory. Go's collector lets a program grow to about twice what it uses, so the server is
// read after it had time to give memory back.
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

	"adaptive-h3/infra/edge/internal/client"
)

const atATime = 16 // a server refuses QUIC connections while too many wait to be accepted

// row is what this program prints. Memory is resident, of the server's process (proc(5), VmRSS); 0: nobody knows.
type row struct {
	Protocol    string `json:"protocol"`
	Connections int    `json:"connections"`
	Answered    int64  `json:"answered"`
	BeforeKB    int    `json:"beforeKB"`
	AfterKB     int    `json:"afterKB"`
}

var (
	protocol = flag.String("protocol", "h1", "h1, h2 or h3")
	site     = flag.String("site", "https://127.0.0.1:8443/", "a page")
	ca       = flag.String("ca", ".adaptive-h3/dev-cert.pem", "PEM `FILE` of its certificate")
	number   = flag.Int("connections", 100, "`N` connections")
	from     = flag.String("from", "", "one `ADDRESS` of this machine for all (default: each has a loopback address of its own)")
	pid      = flag.Int("pid", 0, "process `ID` of the server, for its memory")
	rest     = flag.Duration("rest", 0, "`DURATION` between the last connection and the look at the memory")
)

func main() {
	flag.Parse()
	r := row{Protocol: *protocol, Connections: *number, BeforeKB: client.Memory(*pid, "VmRSS")}
	var answered atomic.Int64
	var all sync.WaitGroup
	places := make(chan struct{}, atATime)
	for i := range *number {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			if err := open(i); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			answered.Add(1)
		})
	}
	all.Wait()
	time.Sleep(*rest)
	r.Answered, r.AfterKB = answered.Load(), client.Memory(*pid, "VmRSS")
	_ = json.NewEncoder(os.Stdout).Encode(r)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// open makes one connection. The process's end closes it.
func open(i int) error {
	address := *from
	if address == "" {
		address = fmt.Sprintf("127.3.%d.%d", i/250, i%250+1)
	}
	transport, _, err := client.New(client.Options{Protocol: *protocol, CAFile: *ca, From: address, DialTimeout: time.Minute, IdleTimeout: time.Hour})
	if err != nil {
		return err
	}
	res, err := (&http.Client{Transport: transport}).Get(*site)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}
