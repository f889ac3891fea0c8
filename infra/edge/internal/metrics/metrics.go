// Package metrics counts what the edge does, and answers GET /metrics on a listener of its own, which visitors cannot reach. Of this
// module it imports admission, connpath, errorlog, ownsocket and upstream.
package metrics

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/errorlog"
	"adaptive-h3/infra/edge/internal/ownsocket"
	"adaptive-h3/infra/edge/internal/upstream"
)

const (
	namespace = "adaptive_h3_edge"
	// How long a client may take to send its request's header.
	readHeaderTimeout = 15 * time.Second
	// A connection that sent fewer packets tells nothing of its loss.
	minPackets = 100
)

// Subject is whose figures of the moment are told.
type Subject struct {
	Registry *connpath.Registry
	// Crowded returns how many connections were closed because there were too many.
	Crowded func() uint64
	Desk    *admission.Desk
	// Handshakes returns how many QUIC handshakes are in progress, how many of them without a proof of the address, and whether every
	// client has to prove its address now.
	Handshakes func() (total, unproven int, asking bool)
	// CertificateEnds returns when the first of the certificates ends.
	CertificateEnds func() time.Time
	// Misdirected returns how many requests were for hosts that no certificate and no -host has.
	Misdirected func() uint64
	// Descriptors returns how many the process behind has open, and how many it may have; 0 where nobody can tell.
	Descriptors func() (open, limit int)
	// PassedBy returns how many requests went to the origin without the worker.
	PassedBy func() uint64
}

// Metrics counts. A nil Metrics counts nothing.
type Metrics struct {
	registry    *prometheus.Registry
	connections *prometheus.CounterVec
	requests    *prometheus.CounterVec
	rtt         *prometheus.HistogramVec
	loss        *prometheus.HistogramVec
	sockets     prometheus.Counter
	handshakes  map[string]prometheus.Counter // TLS handshakes over TCP that failed, by cause
}

// New makes counters of zero.
func New(subject Subject) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		connections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "connections_total", Help: "Connections that carried a request and have ended",
		}, []string{"transport"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "requests_total", Help: "Requests, by the version of HTTP",
		}, []string{"protocol"}),
		rtt: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "rtt_seconds", Help: "Smallest RTT of each connection that has ended",
			Buckets: []float64{.005, .01, .02, .03, .05, .08, .12, .18, .27, .4, .8},
		}, []string{"transport"}),
		loss: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "loss_ratio", Help: "Lost packets of all, of each connection that has ended and sent 100 or more",
			Buckets: []float64{0, .0005, .001, .002, .005, .01, .02, .05, .1, .2},
		}, []string{"transport"}),
		sockets: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Name: "udp_sockets_reopened_total", Help: "UDP sockets that were opened in the place of one that died",
		}),
	}
	m.countHandshakes()
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, value)
	}
	m.registry.MustRegister(
		m.connections, m.requests, m.rtt, m.loss, m.sockets,
		gauge("open_connections", "Connections that are open", func() float64 { return float64(len(subject.Registry.Snapshot(nil))) }),
		gauge("certificate_left_seconds", "Time until the first of the certificates ends, below 0 when it has", func() float64 {
			return time.Until(subject.CertificateEnds()).Seconds()
		}),
		gauge("quic_handshakes", "QUIC handshakes in progress", func() float64 {
			total, _, _ := subject.Handshakes()
			return float64(total)
		}),
		gauge("quic_retry", "Whether every QUIC client has to prove its address first", func() float64 {
			if _, _, asking := subject.Handshakes(); asking {
				return 1
			}
			return 0
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "connections_crowded_total", Help: "Connections at rest that were closed because there were too many",
		}, func() float64 { return float64(subject.Crowded()) }),
		gauge("upstream_descriptors", "Descriptors that the process behind has open; 0 where nobody can tell", func() float64 {
			open, _ := subject.Descriptors()
			return float64(open)
		}),
		gauge("requests_in_flight", "Requests that have a place", func() float64 {
			inFlight, _, _ := subject.Desk.Counts()
			return float64(inFlight)
		}),
		gauge("requests_waiting", "Requests that wait for a place", func() float64 {
			_, waiting, _ := subject.Desk.Counts()
			return float64(waiting)
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "requests_refused_total", Help: "Requests for which there was no place",
		}, func() float64 {
			_, _, refused := subject.Desk.Counts()
			return float64(refused)
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "requests_past_worker_total", Help: "Requests that went to the origin without the worker, so that nobody decided",
		}, func() float64 { return float64(subject.PassedBy()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "requests_misdirected_total", Help: "Requests for a host that no certificate and no -host has",
		}, func() float64 { return float64(subject.Misdirected()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// Count counts the requests that next answers.
func (m *Metrics) Count(next http.Handler) http.Handler {
	if m == nil {
		return next
	}
	protocols := map[int]prometheus.Counter{}
	for major, name := range map[int]string{1: "h1", 2: "h2", 3: "h3"} {
		protocols[major] = m.requests.WithLabelValues(name)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if counter := protocols[r.ProtoMajor]; counter != nil {
			counter.Inc()
		}
		next.ServeHTTP(w, r)
	})
}

// Closed sees a connection that ends, while its statistics can still be read.
func (m *Metrics) Closed(c *connpath.Connection) {
	if m == nil || !c.Sampled() {
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

// SocketReopened counts a UDP socket that was opened in the place of one that died.
func (m *Metrics) SocketReopened() {
	if m != nil {
		m.sockets.Inc()
	}
}

// Serve answers at t in the background until the caller closes the server that it returns. Its error names the flag -metrics.
func (m *Metrics) Serve(t upstream.Target, log *errorlog.Log) (*http.Server, error) {
	ln, err := ownsocket.Listen(t.Network, t.Address)
	if err != nil {
		return nil, fmt.Errorf("flag -metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	h := &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderTimeout, ErrorLog: log.Logger("metrics")}
	go func() {
		if err := h.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Report("metrics", err.Error())
		}
	}()
	return h, nil
}
