package operator

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/upstream"
)

const (
	namespace = "adaptive_h3_edge"
	// A connection that sent fewer packets tells nothing of its loss.
	minPackets = 100
)

// The causes for which a TLS handshake over TCP fails.
const (
	causeLeft    = "left"    // the client closed or reset the connection
	causeTimeout = "timeout" // the client sent nothing for too long
	causeNotTLS  = "not-tls" // the client speaks another protocol
	causeRefused = "refused" // the client sent an alert: it does not trust the certificate, for example
	causeOther   = "other"   // the client has nothing in common with the server, or broke a rule of TLS
)

// Metrics counts.
type Metrics struct {
	registry    *prometheus.Registry
	connections *prometheus.CounterVec
	requests    *prometheus.CounterVec
	rtt         *prometheus.HistogramVec
	loss        *prometheus.HistogramVec
	listeners   *prometheus.GaugeVec
	sockets     prometheus.Counter
	failed      *prometheus.CounterVec // TLS handshakes over TCP, by cause
}

// NewMetrics makes counters of zero. It reads what subject has when somebody asks.
func NewMetrics(subject *Subject) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	register := promauto.With(m.registry)
	vector := func(name, help, label string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, []string{label})
	}
	histogram := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		opts := prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}
		return register.NewHistogramVec(opts, []string{"transport"})
	}
	gauge := func(name, help string, value func() float64) {
		register.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, value)
	}
	counter := func(name, help string, value func() uint64) {
		opts := prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}
		register.NewCounterFunc(opts, func() float64 { return float64(value()) })
	}
	m.connections = vector("connections_total", "Connections that carried a request and have ended", "transport")
	m.requests = vector("requests_total", "Requests, by the version of HTTP", "protocol")
	m.failed = vector("tls_handshakes_failed_total", "TLS handshakes over TCP that failed, by cause", "cause")
	for _, cause := range []string{causeLeft, causeTimeout, causeNotTLS, causeRefused, causeOther} {
		m.failed.WithLabelValues(cause)
	}
	m.rtt = histogram("rtt_seconds", "Smallest RTT of each connection that has ended", .005, .01, .02, .03, .05, .08, .12, .18, .27, .4, .8)
	m.loss = histogram("loss_ratio", "Lost packets of all, of each connection that has ended and sent 100 or more",
		0, .0005, .001, .002, .005, .01, .02, .05, .1, .2)
	m.listeners = register.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "tcp_listeners", Help: "Addresses that are served, by the congestion control of their TCP",
	}, []string{"congestion"})
	m.sockets = register.NewCounter(prometheus.CounterOpts{
		Namespace: namespace, Name: "udp_sockets_reopened_total", Help: "UDP sockets that were opened in the place of one that died",
	})
	gauge("open_connections", "Connections that are open", func() float64 { return float64(len(subject.Registry.Snapshot())) })
	gauge("certificate_left_seconds", "Time until the first of the certificates ends, below 0 when it has", func() float64 {
		return time.Until(subject.Certificates.Ends()).Seconds()
	})
	gauge("quic_handshakes", "QUIC handshakes in progress", func() float64 {
		total, _, _ := subject.Handshakes()
		return float64(total)
	})
	gauge("quic_retry", "Whether every QUIC client has to prove its address first", func() float64 {
		if _, _, asking := subject.Handshakes(); asking {
			return 1
		}
		return 0
	})
	gauge("upstream_descriptors", "Descriptors that the process behind has open; 0 where nobody can tell", func() float64 {
		open, _ := subject.Descriptors()
		return float64(open)
	})
	gauge("requests_in_flight", "Requests that have a place", func() float64 { return float64(subject.requests().InFlight) })
	gauge("requests_waiting", "Requests that wait for a place", func() float64 { return float64(subject.requests().Waiting) })
	counter("requests_refused_total", "Requests for which there was no place", func() uint64 { return subject.requests().Refused })
	counter("requests_past_worker_total", "Requests that went to the origin without the worker, so that nobody decided", subject.passedBy)
	counter("requests_misdirected_total", "Requests for a host that no certificate and no -host has", func() uint64 { return subject.Misdirected() })
	counter("connections_crowded_total", "Connections at rest that were closed because there were too many", func() uint64 { return subject.Crowded() })
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Serve answers GET /metrics at t nowhere where that is the zero target, until the caller closes the server that it returns.
func (m *Metrics) Serve(t upstream.Target, log *errorlog.Log) (*http.Server, error) {
	return serve("metrics", t, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}), log)
}

// Count counts the requests that next answers.
func (m *Metrics) Count(next http.Handler) http.Handler {
	protocols := [...]prometheus.Counter{1: m.requests.WithLabelValues("h1"), 2: m.requests.WithLabelValues("h2"), 3: m.requests.WithLabelValues("h3")}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols[r.ProtoMajor].Inc()
		next.ServeHTTP(w, r)
	})
}

// Closed sees a connection that ends, while its statistics can still be read.
func (m *Metrics) Closed(c *connpath.Connection) {
	if !c.Sampled() {
		return
	}
	transport := string(c.Transport)
	m.connections.WithLabelValues(transport).Inc()
	r, ok := c.Read()
	if !ok {
		return
	}
	if r.MinRTT > 0 {
		m.rtt.WithLabelValues(transport).Observe(r.MinRTT.Seconds())
	}
	if r.PacketsSent >= minPackets {
		m.loss.WithLabelValues(transport).Observe(float64(min(r.PacketsLost, r.PacketsSent)) / float64(r.PacketsSent))
	}
}

// Listens counts an address that is served.
func (m *Metrics) Listens(congestion string) { m.listeners.WithLabelValues(congestion).Inc() }

// SocketReopened counts a UDP socket that was opened in the place of one that died.
func (m *Metrics) SocketReopened() { m.sockets.Inc() }

// Ended sees each change of a connection's state (http.Server.ConnState), and counts those whose handshake failed.
func (m *Metrics) Ended(c net.Conn, state http.ConnState) {
	if t, ok := c.(*tls.Conn); ok && state == http.StateClosed {
		// The handshake is over. This gives its error again, and does nothing else.
		if err := t.Handshake(); err != nil {
			m.failed.WithLabelValues(causeOf(err)).Inc()
		}
	}
}

func causeOf(err error) string {
	var notTLS tls.RecordHeaderError
	var timeout net.Error
	var operation *net.OpError
	switch {
	case errors.As(err, &notTLS):
		return causeNotTLS
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return causeLeft
	case errors.As(err, &timeout) && timeout.Timeout():
		return causeTimeout
	case errors.As(err, &operation) && operation.Op == "remote error": // so crypto/tls marks an alert that it received
		return causeRefused
	}
	return causeOther
}
