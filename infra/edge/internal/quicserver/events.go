package quicserver

import (
	"context"
	"net/netip"
	"sync/atomic"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"

	"adaptive-h3/infra/edge/internal/slowstart"
)

// events counts what a QUIC connection lost, and says when its client moves. quic-go's own counters take nothing back that turned out
// to be late, and count each congestion event that the network signals by ECN (RFC 9002, section 7.1). Its events for qlog tell all three
// apart.
type events struct {
	declared, spurious atomic.Uint64 // packets
	own                atomic.Int64  // of them, those that slow start lost, and that did not arrive late
	overflow           slowstart.Overflow
	moved              atomic.Pointer[func()]

	also  qlogwriter.Trace    // nil: none
	other qlogwriter.Recorder // its own; nil: none
	asked bool
}

// logged writes every event of a connection into a file, where QLOGDIR names a folder (draft-ietf-quic-qlog-quic-events), without addresses.
var logged = qlog.RedactIPs(qlog.DefaultConnectionTracer, func(netip.AddrPort, bool) (string, bool) { return "redacted", true })

// trace begins to count what a connection loses. It is quic.Config.Tracer.
func trace(ctx context.Context, isClient bool, id quic.ConnectionID) qlogwriter.Trace {
	return &events{also: logged(ctx, isClient, id)}
}

// onMove has moved called whenever the connection goes on at another address of its client, before it sends anything there.
func (e *events) onMove(moved func()) { e.moved.Store(&moved) }

// lost returns how many packets the network dropped: those of the connection's own slow start say nothing of it. It falls when one that was
// declared lost turns out to have arrived.
func (e *events) lost() uint64 {
	gone, own := e.gone(), uint64(max(0, e.own.Load()))
	return max(gone, own) - own
}

// gone returns how many packets did not arrive.
func (e *events) gone() uint64 {
	spurious := e.spurious.Load()
	return max(e.declared.Load(), spurious) - spurious
}

// bytes returns about how many of those bytes did not arrive that were declared lost. Nobody knows the sizes of the late packets, which
// are as large as the others.
func (e *events) bytes(declared uint64) uint64 {
	packets := e.declared.Load()
	if packets == 0 {
		return 0
	}
	return uint64(float64(declared) * float64(e.gone()) / float64(packets))
}

// AddProducer implements qlogwriter.Trace. The connection itself is the first to ask, while it is made. HTTP/3, which asks later,
// loses no packets, and would write down the headers of requests, with cookies and names: it makes no events.
func (e *events) AddProducer() qlogwriter.Recorder {
	if e.asked {
		return nil
	}
	e.asked = true
	if e.also != nil {
		e.other = e.also.AddProducer()
	}
	return e
}

// RecordEvent implements qlogwriter.Recorder.
func (e *events) RecordEvent(event qlogwriter.Event) {
	switch one := event.(type) {
	case qlog.PacketSent:
		if one.Header.PacketType == qlog.PacketType1RTT {
			e.overflow.OnPacketSent(int64(one.Header.PacketNumber))
		}
	case qlog.PacketLost:
		// What is lost of the search for the largest packet says nothing about the path's losses (RFC 9000, section 14.4).
		if !one.IsMTUProbePacket {
			e.declared.Add(1)
			if one.Header.PacketType == qlog.PacketType1RTT {
				e.overflow.OnPacketLost(int64(one.Header.PacketNumber))
				e.countOwn(int64(one.Header.PacketNumber), 1)
			}
		}
	case qlog.SpuriousLoss:
		e.spurious.Add(1)
		e.countOwn(int64(one.PacketNumber), -1)
	case qlog.TupleAssigned:
		// The path that is used has no name. Others are only tried.
		if moved := e.moved.Load(); moved != nil && one.TupleID == "" {
			(*moved)()
		}
	}
	if e.other != nil {
		e.other.RecordEvent(event)
	}
}

// countOwn counts a packet that slow start lost, or takes it back.
func (e *events) countOwn(packet, by int64) {
	if e.overflow.IsOwn(packet) {
		e.own.Add(by)
	}
}

// Close implements qlogwriter.Recorder.
func (e *events) Close() error {
	if e.other != nil {
		return e.other.Close()
	}
	return nil
}
