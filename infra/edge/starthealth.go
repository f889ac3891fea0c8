package main

import (
	"net/netip"

	"adaptive-h3/infra/edge/internal/health"
	"adaptive-h3/infra/edge/internal/origin"
	"adaptive-h3/infra/edge/internal/quicserver"
	"adaptive-h3/infra/edge/internal/upstream"
)

// startHealth answers GET /health at t, if anybody wants it.
func (e *edge) startHealth(t upstream.Target, fallback *origin.Fallback) (err error) {
	if t == (upstream.Target{}) {
		return nil
	}
	subject := health.Subject{Certificates: e.certificates, Desk: e.desk, Descriptors: e.descriptors}
	if fallback != nil {
		subject.WorkerGone, subject.Origin = fallback.WorkerGone, fallback
	}
	for _, s := range e.servers {
		reachedAt := func() netip.AddrPort { return quicserver.ReachedAt(s.socket.TCP.Addr()) }
		subject.TCP = append(subject.TCP, health.TCP{Address: s.socket.Address(), ReachedAt: reachedAt})
		if s.quic != nil {
			subject.HTTP3 = append(subject.HTTP3, health.HTTP3{
				Address: s.quic.Address(), ReachedAt: reachedAt, Serves: s.serves, Warning: s.quic.SmallBuffers,
			})
		}
	}
	e.health, err = health.Serve(t, subject, e.log)
	return err
}
