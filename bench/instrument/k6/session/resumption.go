package session

import (
	"crypto/tls"

	"github.com/quic-go/quic-go"
)

// One client and one server: as many tickets and tokens as sessions that follow each other could use.
const kept = 8

// Resumption is what a client keeps of its sessions with a server, as a browser does: TLS session tickets (RFC 8446, section
// 4.6.1), each transport's own, and QUIC's tokens for an address that was validated (RFC 9000, section 8.1.3). The zero
// value keeps nothing: a client that was never here.
type Resumption struct {
	// EarlyData sends requests over QUIC before the handshake is complete, where the ticket allows it (0-RTT; RFC 9001,
	// section 4.6). Over TCP Go's TLS has no early data.
	EarlyData bool

	tcp, quic tls.ClientSessionCache
	tokens    quic.TokenStore
}

// NewResumption knows nothing yet.
func NewResumption(earlyData bool) Resumption {
	return Resumption{
		EarlyData: earlyData,
		tcp:       tls.NewLRUClientSessionCache(kept),
		quic:      tls.NewLRUClientSessionCache(kept),
		tokens:    quic.NewLRUTokenStore(1, kept),
	}
}
