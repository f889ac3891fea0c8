// Peer is what tests and measurements put around the edge: clients, visitors and an origin. The edge imports none of it.
package main

import (
	"fmt"
	"os"
)

// commands are the ways to run it: the first argument names one.
var commands = map[string]func(args []string) error{
	"probe": probe, "load": runLoad,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "peer: the first argument must be probe or load; -h after it lists its flags")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(2)
	}
}
