package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// lyingPause is how long a lying origin keeps its connection open after an excess, so that a client may use it again.
const lyingPause = 300 * time.Millisecond

// origin answers by answerTo, over plain HTTP/1.1. It can be slow or dead.
type origin struct {
	address string
	delay   atomic.Int64 // nanoseconds before each answer
	// answered has, by path, when and after how long the origin first began to answer.
	answered sync.Map

	mutex  sync.Mutex
	server *http.Server // nil: dead
}

// beginning is the beginning of an answer.
type beginning struct {
	at    time.Time
	after time.Duration
}

// start listens on address, and on its port again after a stop.
func (o *origin) start(address string) error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.server != nil {
		return nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	o.address = l.Addr().String()
	o.server = &http.Server{Handler: o}
	go func(s *http.Server) { _ = s.Serve(l) }(o.server)
	return nil
}

// stop refuses and breaks all connections.
func (o *origin) stop() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.server != nil {
		_ = o.server.Close()
		o.server = nil
	}
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	digest := ""
	if r.Method == http.MethodPost {
		hash := sha256.New()
		if _, err := io.Copy(hash, r.Body); err != nil {
			panic(http.ErrAbortHandler)
		}
		digest = hex.EncodeToString(hash.Sum(nil))
	}
	began := time.Now()
	if delay := time.Duration(o.delay.Load()); delay > 0 {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(delay):
		}
	}
	// The edge asks again where workerd ended before it answered. So the first time counts.
	o.answered.LoadOrStore(r.URL.Path, beginning{at: time.Now(), after: time.Since(began)})
	a := answerTo(r.Method, r.URL.Path, digest)
	if a.lie != "" {
		lie(w, a)
		return
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	// Half of the answers are chunked.
	if a.header.Get("X-Origin")[0] < '8' || r.Method == http.MethodHead {
		w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
	}
	w.WriteHeader(a.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body[:len(a.body)/2])
		_ = http.NewResponseController(w).Flush()
		_, _ = w.Write(a.body[len(a.body)/2:])
	}
}

// lie sends an answer that breaks HTTP's rules.
func lie(w http.ResponseWriter, a answer) {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(out, "HTTP/1.1 %d OK\r\n", a.status)
	_ = a.header.Write(out)
	switch a.lie {
	case lieLength:
		_, _ = fmt.Fprintf(out, "Content-Length: %d\r\n\r\n%s", 2*len(a.body)+1, a.body)
	case lieChunk:
		_, _ = fmt.Fprintf(out, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s", 2*len(a.body)+1, a.body)
	case lieExcess:
		_, _ = fmt.Fprintf(out, "Content-Length: %d\r\n\r\n%sHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison", len(a.body), a.body)
	}
	_ = out.Flush()
	if a.lie == lieExcess {
		time.Sleep(lyingPause)
	}
}
