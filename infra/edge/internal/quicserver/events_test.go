package quicserver

import (
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

func TestEvents(t *testing.T) {
	lost, late := qlog.PacketLost{}, qlog.SpuriousLoss{}
	probe := qlog.PacketLost{IsMTUProbePacket: true}
	for _, tc := range []struct {
		name            string
		recorded        []qlogwriter.Event
		packets         uint64
		retransmissions uint64
		bytes           uint64 // of 1000 for each that was declared
	}{
		{"none", nil, 0, 0, 0},
		{"lost", []qlogwriter.Event{lost, lost}, 2, 2, 2000},
		{"one was late", []qlogwriter.Event{lost, lost, lost, late}, 2, 3, 2000},
		{"all were late", []qlogwriter.Event{lost, late}, 0, 1, 0},
		{"more late than lost: never below 0", []qlogwriter.Event{lost, late, late}, 0, 1, 0},
		{"a probe for the largest packet", []qlogwriter.Event{probe}, 0, 0, 0},
		{"other events", []qlogwriter.Event{qlog.PacketSent{}, qlog.ECNStateUpdated{}}, 0, 0, 0},
	} {
		l := &events{}
		for _, e := range tc.recorded {
			l.RecordEvent(e)
		}
		// What quic-go counts beside, as a mark by ECN, counts for nothing.
		r := reading(quic.ConnectionStats{PacketsSent: 100, PacketsLost: 50, BytesLost: 1000 * tc.retransmissions}, l)
		if r.PacketsLost != tc.packets || r.Retransmitted != tc.retransmissions || r.PacketsSent != 100 || r.BytesLost != tc.bytes {
			t.Errorf("%s: %+v", tc.name, r)
		}
	}
}

// What a connection's slow start loses is sent again, and is no loss of the network's: only what is lost later counts.
func TestEventsOfAnOverflow(t *testing.T) {
	header := func(number int) qlog.PacketHeader {
		return qlog.PacketHeader{PacketType: qlog.PacketType1RTT, PacketNumber: qlog.PacketNumber(number)}
	}
	l := &events{}
	sent := func(from, to int) {
		for number := from; number < to; number++ {
			l.RecordEvent(qlog.PacketSent{Header: header(number)})
		}
	}
	check := func(when string, lost, again uint64) {
		t.Helper()
		r := reading(quic.ConnectionStats{BytesLost: 1000 * again}, l)
		if r.PacketsLost != lost || r.Retransmitted != again || r.BytesLost != 1000*(again-l.spurious.Load()) {
			t.Errorf("%s: %+v", when, r)
		}
	}
	l.RecordEvent(qlog.PacketSent{Header: qlog.PacketHeader{PacketType: qlog.PacketTypeHandshake, PacketNumber: 1}})
	sent(0, 800)
	for number := 500; number < 600; number++ {
		l.RecordEvent(qlog.PacketLost{Header: header(number)})
	}
	check("the overflow", 0, 100)
	l.RecordEvent(qlog.SpuriousLoss{PacketNumber: qlog.PacketNumber(599)})
	check("one of it came late", 0, 100)
	sent(800, 2_000)
	l.RecordEvent(qlog.PacketLost{Header: header(1_500)})
	l.RecordEvent(qlog.PacketLost{Header: header(1_501)})
	check("later", 2, 102)
	l.RecordEvent(qlog.SpuriousLoss{PacketNumber: qlog.PacketNumber(1_501)})
	check("one of those came late", 1, 102)
}

// heard is another trace: it counts what it is given.
type heard struct{ producers, events, closed int }

func (h *heard) AddProducer() qlogwriter.Recorder { h.producers++; return h }
func (h *heard) RecordEvent(qlogwriter.Event)     { h.events++ }
func (h *heard) Close() error                     { h.closed++; return nil }

// A qlog has all events of the connection, and none of HTTP/3. It is closed once.
func TestEventsBesideAnotherTrace(t *testing.T) {
	other := &heard{}
	trace := &events{also: other}
	transport, http3 := trace.AddProducer(), trace.AddProducer()
	transport.RecordEvent(qlog.PacketLost{})
	_ = transport.Close()
	if http3 != nil || *other != (heard{producers: 1, events: 1, closed: 1}) {
		t.Errorf("%+v, %v", other, http3)
	}
}

// Without a qlog HTTP/3 makes no events.
func TestEventsAlone(t *testing.T) {
	trace := trace(t.Context(), false, quic.ConnectionID{})
	transport := trace.AddProducer()
	if transport == nil || trace.AddProducer() != nil {
		t.Error("not the connection alone has a recorder")
	}
	transport.RecordEvent(qlog.PacketLost{})
	if err := transport.Close(); err != nil {
		t.Error(err)
	}
}

// What a connection pays for each of its events, of which next to none is a loss.
func BenchmarkEvents(b *testing.B) {
	l := &events{}
	all := []qlogwriter.Event{qlog.PacketSent{}, qlog.MetricsUpdated{}, qlog.TimerUpdated{}, qlog.PacketReceived{}}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.RecordEvent(all[i&3])
	}
}
