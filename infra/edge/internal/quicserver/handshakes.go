package quicserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"

	"github.com/quic-go/quic-go"

	"adaptive-h3/infra/edge/connpath"
	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/errorlog"
)

// HandshakeLimits are the bounds of the handshakes in progress.
type HandshakeLimits struct {
	// Unproven is the number of handshakes whose clients have not proved their addresses, from which on every further client
	// proves it first, by a Retry (RFC 9000, section 8.1.2).
	Unproven int
	// Total is the number of all handshakes. Further clients are refused.
	Total int
	// Always asks every client for the proof.
	Always bool
}

// perClientShare is the part of Total that the handshakes of one proven client may take.
const perClientShare = 4

var (
	errHandshakes       = errors.New("too many handshakes at a time")
	errClientHandshakes = errors.New("too many handshakes of this client or its network at a time")
)

// Handshakes counts the handshakes in progress of all servers that share it. One takes 30 to 90 KB (measured), until it is
// complete or 5 s pass without a packet, so an attacker who forges addresses could fill any memory.
//
// A handshake begins where quic-go makes its state (quic.Transport.ConnContext), and ends where its connection is accepted, or
// where the context of that call ends. The end proves the address too, as no server gets a Finished from a forged address.
type Handshakes struct {
	limits HandshakeLimits
	log    *errorlog.Log

	mu       sync.Mutex
	unproven int
	proven   admission.Tally // those whose addresses a Retry has proved
	total    int
	asking   bool // a Retry goes to every client
}

// NewHandshakes makes a count within limits.
func NewHandshakes(limits HandshakeLimits, log *errorlog.Log) *Handshakes {
	return &Handshakes{limits: limits, log: log, proven: admission.NewTally()}
}

// Counts returns how many handshakes are in progress, how many of them without a proof of the address, and whether every client
// has to prove its address now.
func (h *Handshakes) Counts() (total, unproven int, asking bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.total, h.unproven, h.asking
}

// asksForProof says whether the next client has to prove its address. It begins to ask at the limit, and stops at half of it,
// so that it does not change its mind with every packet.
func (h *Handshakes) asksForProof(net.Addr) bool {
	if h.limits.Always {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.asking && h.unproven >= h.limits.Unproven:
		h.asking = true
		h.log.Report("QUIC", fmt.Sprintf("%d clients at a time have not proved their addresses: each new client proves it first (Retry)", h.unproven))
	case h.asking && h.unproven <= h.limits.Unproven/2:
		h.asking = false
	}
	return h.asking
}

// handshakeKey is that of a function, in the context of a connection, which ends its handshake. It may be called again.
type handshakeKey struct{}

// begin counts a handshake, or refuses it. It is quic.Transport.ConnContext.
func (h *Handshakes) begin(ctx context.Context, info *quic.ClientInfo) (context.Context, error) {
	var client netip.Prefix // an IPv4 address or an IPv6 /64; invalid: not proved
	if info.AddrVerified {
		client = admission.Client(connpath.ClientAddr(info.RemoteAddr))
	}
	if err := h.count(client); err != nil {
		h.log.Report("QUIC handshakes", err.Error())
		return nil, err
	}
	forget := context.AfterFunc(ctx, func() { h.end(client) })
	return context.WithValue(ctx, handshakeKey{}, func() {
		if forget() {
			h.end(client)
		}
	}), nil
}

func (h *Handshakes) count(client netip.Prefix) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.total >= h.limits.Total {
		return errHandshakes
	}
	if !client.IsValid() {
		h.unproven++
	} else {
		if !h.proven.Room(client, max(h.limits.Total/perClientShare, 1)) {
			return errClientHandshakes
		}
		h.proven.Add(client)
	}
	h.total++
	return nil
}

// end counts a handshake no more.
func (h *Handshakes) end(client netip.Prefix) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.total--
	if client.IsValid() {
		h.proven.Remove(client)
	} else {
		h.unproven--
	}
}
