package operator

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/upstream"
)

// readHeaderTimeout is how long a client may take to send its request's header.
const readHeaderTimeout = 15 * time.Second

// serve answers GET /name at t in the background, until the caller closes the server. It answers nowhere where t is the zero target. Its
// error names the flag.
func serve(name string, t upstream.Target, h http.Handler, log *errorlog.Log) (*http.Server, error) {
	mux := http.NewServeMux()
	mux.Handle("GET /"+name, h)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ErrorLog: log.Logger(name)}
	if t == (upstream.Target{}) {
		return server, nil
	}
	ln, err := listen(t.Network, t.Address)
	if err != nil {
		return nil, fmt.Errorf("flag -%s: %w", name, err)
	}
	go func() {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Report(name, err.Error())
		}
	}()
	return server, nil
}

// listen listens at an address of the network "tcp" or "unix". It takes the place of a socket that a killed program left behind, and of
// nothing else: a flag with a typing error must not cost a file.
func listen(network, address string) (net.Listener, error) {
	if network == "unix" {
		if info, err := os.Lstat(address); err == nil && info.Mode().Type() != os.ModeSocket {
			return nil, fmt.Errorf("%s is there and is not a socket: name another path", address)
		}
		_ = os.Remove(address) // if that fails, so does what follows
	}
	ln, err := net.Listen(network, address)
	if err != nil {
		return nil, err
	}
	if u, ok := ln.(*net.UnixListener); ok {
		// The program that follows may have put its own in this place by then.
		u.SetUnlinkOnClose(false)
	}
	return ln, nil
}
