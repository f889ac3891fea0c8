// Command forge sends the first packets of QUIC handshakes that nobody continues, from forged addresses of the loopback
// network. It is an attack for tests: it refuses to send anywhere else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"time"

	"adaptive-h3/infra/edge/internal/forge"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "forge: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("forge", flag.ContinueOnError)
	to := flags.String("to", "", "`IP:PORT` of a server on this machine")
	rate := flags.Int("rate", 1000, "`N` packets a second")
	lasts := flags.Duration("for", 5*time.Second, "`DURATION` of the attack")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server, err := netip.ParseAddrPort(*to)
	if err != nil || !server.Addr().Is4() || !server.Addr().IsLoopback() {
		return errors.New("flag -to: it must be IP:PORT with an address in 127.0.0.0/8")
	}
	if *rate <= 0 {
		return errors.New("flag -rate: it must be above 0")
	}
	ctx, cancel := context.WithTimeout(context.Background(), *lasts)
	defer cancel()
	sent, err := forge.Flood(ctx, server, *rate)
	if err != nil {
		return err
	}
	fmt.Println(sent)
	return nil
}
