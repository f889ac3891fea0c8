package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// command is one line of the input.
type command struct {
	// Do is start (Site, CA, PerSecond and Seed say what), stop, delay (Ms), lies (Percent), kill-origin or start-origin.
	Do        string `json:"do"`
	Site      string `json:"site"`
	CA        string `json:"ca"`
	PerSecond int    `json:"perSecond"`
	Seed      uint64 `json:"seed"`
	Ms        int    `json:"ms"`
	Percent   int64  `json:"percent"`
}

// runLoad is the origin and the visitors of the fault harness (infra/faults). It takes commands as lines of JSON on its input, and
// prints lines of JSON: {"origin": URL} at its start, {"done": COMMAND} after each command, and a record of each request. It ends
// with its input.
func runLoad([]string) error { return obey(os.Stdin, os.Stdout) }

func obey(in io.Reader, out io.Writer) error {
	var mutex sync.Mutex
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	print := func(v any) {
		mutex.Lock()
		defer mutex.Unlock()
		_ = encoder.Encode(v)
		_ = buffered.Flush()
	}
	o := &origin{}
	if err := o.start("127.0.0.1:0"); err != nil {
		return err
	}
	defer o.stop()
	print(map[string]string{"origin": "http://" + o.address})

	l := &load{origin: o, tokens: make(chan struct{}, 20), print: print}
	end := func() {}
	var running sync.WaitGroup
	defer func() { end(); running.Wait() }()
	lines := json.NewDecoder(in)
	for {
		var c command
		err := lines.Decode(&c)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("a command: %w", err)
		}
		switch c.Do {
		case "start":
			ctx, cancel := context.WithCancel(context.Background())
			end = cancel
			l.site, l.caFile, l.seed = c.Site, c.CA, c.Seed
			running.Go(func() { l.run(ctx, c.PerSecond) })
		case "stop":
			end()
			running.Wait()
		case "delay":
			o.delay.Store(int64(time.Duration(c.Ms) * time.Millisecond))
		case "lies":
			l.lies.Store(c.Percent)
		case "kill-origin":
			o.stop()
		case "start-origin":
			if err := o.start(o.address); err != nil {
				return err
			}
		default:
			return fmt.Errorf("a command: %q is not known", c.Do)
		}
		print(map[string]string{"done": c.Do})
	}
}
