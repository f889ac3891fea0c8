// Command edge is the TLS edge of adaptive-h3 for one's own machine: it ends HTTP/1.1, HTTP/2 and HTTP/3 on one port
// number, measures every connection, hands what it measured to the worker as request.cf with Cloudflare's field names,
// and posts path samples to an internal listener that visitors cannot reach.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"adaptive-h3/infra/edge/internal/errorlog"
)

// Exit codes, as the flag package and shells use them.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	// quic-go asks for larger UDP buffers by itself. The edge says at its start and in its health if they are still small.
	_ = os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default action is back, so a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run does what main does, without the process: it serves until ctx ends, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opts, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "edge: %v\n", err)
		return exitUsage
	}

	own := []string{opts.proxy.Upstream.Address, opts.samples.Address}
	if opts.origin != nil {
		own = append(own, opts.origin.Host)
	}
	log := errorlog.New(stderr, own...)
	e, err := startEdge(opts, log)
	if err != nil {
		fmt.Fprintf(stderr, "edge: %v\n", err)
		return exitFailure
	}
	if err := e.announce(stdout); err != nil {
		fmt.Fprintf(stderr, "edge: cannot write to standard output: %v\n", err)
	}

	code := exitOK
	select {
	case <-ctx.Done():
	case <-e.succeeded:
	case err := <-e.failed:
		fmt.Fprintf(stderr, "edge: %v\n", err)
		code = exitFailure
	}
	e.shutdown(opts.shutdownTimeout)
	return code
}
