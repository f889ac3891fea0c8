package metrics

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
)

// The causes for which a TLS handshake over TCP fails.
const (
	causeLeft    = "left"    // the client closed or reset the connection
	causeTimeout = "timeout" // the client sent nothing for too long
	causeNotTLS  = "not-tls" // the client speaks another protocol
	causeRefused = "refused" // the client sent an alert: it does not trust the certificate, for example
	causeOther   = "other"   // the client has nothing in common with the server, or broke a rule of TLS
)

// countHandshakes makes a counter of every cause.
func (m *Metrics) countHandshakes() {
	failed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "tls_handshakes_failed_total", Help: "TLS handshakes over TCP that failed, by cause",
	}, []string{"cause"})
	m.registry.MustRegister(failed)
	m.handshakes = map[string]prometheus.Counter{}
	for _, cause := range []string{causeLeft, causeTimeout, causeNotTLS, causeRefused, causeOther} {
		m.handshakes[cause] = failed.WithLabelValues(cause)
	}
}

// Ended sees each change of a connection's state (http.Server.ConnState), and counts those whose handshake failed.
func (m *Metrics) Ended(c net.Conn, state http.ConnState) {
	if m == nil || state != http.StateClosed {
		return
	}
	t, ok := c.(*tls.Conn)
	if !ok {
		return
	}
	// The handshake is over. This gives its error again, and does nothing else.
	if err := t.Handshake(); err != nil {
		m.handshakes[causeOf(err)].Inc()
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
