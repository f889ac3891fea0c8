// Command plain is the base line of the test with h2spec: net/http's HTTP/2 server with its defaults, and nothing else.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func main() {
	address := flag.String("listen", "127.0.0.1:0", "the `address` to listen on")
	certificate := flag.String("cert", "", "the `file` of the certificate, PEM")
	key := flag.String("key", "", "the `file` of its key, PEM")
	flag.Parse()
	if err := serve(*address, *certificate, *key); err != nil {
		fmt.Fprintf(os.Stderr, "plain: %v\n", err)
		os.Exit(1)
	}
}

func serve(address, certificate, key string) error {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	fmt.Println(ln.Addr())
	return http.ServeTLS(ln, http.HandlerFunc(answer), certificate, key)
}

// answer reads the whole request first. An earlier answer ends the stream, and the cases that then send more pass or fail by
// chance.
func answer(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<!doctype html><title>Plain</title>\n")
}
