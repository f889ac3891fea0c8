package connpath_test

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"adaptive-h3/infra/edge/connpath"
)

// A server whose connections are measured, one client of it, and the sample at the connection's end.
func Example() {
	samples := make(chan connpath.Sample, 1)
	registry := &connpath.Registry{Emit: func(s connpath.Sample) { samples <- s }} // with go registry.Run(ctx), also of open connections
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		panic(err)
	}
	server := &http.Server{
		ConnContext: connpath.ConnContext,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := connpath.FromContext(r.Context())
			c.RequestBegins(time.Now())
			defer func() { c.RequestEnds(time.Now()) }()
			// What goes to a worker behind, and to the page.
			out := r.Clone(r.Context())
			connpath.SetHeaders(out, r, false)
			fmt.Println("client:", out.Header.Get("CF-Connecting-IP"))
			w.Header().Set("Server-Timing", connpath.ServerTiming(c, time.Now()))
			c.WriteBegins()
			n, _ := w.Write([]byte("hello"))
			c.WriteEnds(n)
		}),
	}
	defer server.Close()
	go server.Serve(&connpath.Listener{
		TCPListener: tcp,
		Opened:      registry.Add,
		Closing: func(c *connpath.Connection) {
			registry.SampleClosing(c)
			registry.Remove(c)
		},
	})

	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + tcp.Addr().String())
	if err != nil {
		panic(err)
	}
	res.Body.Close()
	s := <-samples
	fmt.Println(s.Transport, s.RTTMs > 0, s.PacketsSent > 0, s.PacketsLost, s.Closing)
	// Output:
	// client: 127.0.0.1
	// tcp true true 0 true
}

// library stands for a QUIC library's connection.
type library struct{ sent uint64 }

func (l *library) RemoteAddr() net.Addr { return &net.UDPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711} }

func (l *library) Read() connpath.Reading {
	return connpath.Reading{
		RTT: 20 * time.Millisecond, MinRTT: 18 * time.Millisecond, BytesSent: l.sent, PacketsSent: l.sent / 1200, CongestionWindow: 40_000,
	}
}

// A QUIC connection: its library counts, and this package measures at what rate the connection takes what is written to it.
func ExampleNewQUIC() {
	conn := &library{}
	c := connpath.NewQUIC(conn, time.Now())
	c.RequestBegins(time.Now())
	c.WriteBegins()
	time.Sleep(100 * time.Millisecond) // the library waits for its congestion window, and its client acknowledges
	conn.sent = 240_000
	c.WriteEnds(200_000)
	c.RequestEnds(time.Now())
	r, _ := c.Read()
	fmt.Println(c.Client(), r.PacketsSent, r.DeliveryRate > 0 && r.DeliveryRate <= 2_000_000)
	// Output: 192.0.2.7 200 true
}
