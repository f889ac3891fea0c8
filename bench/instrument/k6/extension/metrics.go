package extension

import (
	"context"
	"errors"
	"time"

	"go.k6.io/k6/lib"
	"go.k6.io/k6/metrics"

	"adaptive-h3/bench/instrument/k6/load"
	"adaptive-h3/bench/instrument/k6/session"
)

// loadMetrics are k6 metrics like its own: in the summary, in thresholds, in every output. All carry the tags protocol,
// arm, flow and network, and the ones that the script gives.
type loadMetrics struct {
	// One of each connection, by its protocol.
	handshake *metrics.Metric
	// One of each load in which an Alt-Svc led to a QUIC connection.
	switchHandshake *metrics.Metric
	// From the session's start to the first response's header: one of each load.
	ttfb *metrics.Metric
	// From a request to its response's header, over an open connection: one of each response, by its protocol.
	waiting *metrics.Metric
	// The time of all pages: one of each load that is ok.
	load *metrics.Metric

	bytes, failures, timeouts, switches, broken, pathDrops, edgeCPU, clientCPU *metrics.Metric
}

func registerMetrics(registry *metrics.Registry) (loadMetrics, error) {
	var m loadMetrics
	var failed []error
	for _, one := range []struct {
		into  **metrics.Metric
		name  string
		kind  metrics.MetricType
		value metrics.ValueType
	}{
		{&m.handshake, "h3_handshake", metrics.Trend, metrics.Time},
		{&m.switchHandshake, "h3_switch_handshake", metrics.Trend, metrics.Time},
		{&m.ttfb, "h3_ttfb", metrics.Trend, metrics.Time},
		{&m.waiting, "h3_waiting", metrics.Trend, metrics.Time},
		{&m.load, "h3_load", metrics.Trend, metrics.Time},
		{&m.bytes, "h3_bytes", metrics.Counter, metrics.Data},
		{&m.failures, "h3_failures", metrics.Counter, metrics.Default},
		{&m.timeouts, "h3_timeouts", metrics.Counter, metrics.Default},
		{&m.switches, "h3_switches", metrics.Counter, metrics.Default},
		{&m.broken, "h3_alt_svc_broken", metrics.Counter, metrics.Default},
		{&m.pathDrops, "h3_path_drops", metrics.Counter, metrics.Default},
		{&m.edgeCPU, "h3_edge_cpu", metrics.Counter, metrics.Time},
		{&m.clientCPU, "h3_client_cpu", metrics.Counter, metrics.Time},
	} {
		var err error
		*one.into, err = registry.NewMetric(one.name, one.kind, one.value)
		failed = append(failed, err)
	}
	return m, errors.Join(failed...)
}

// push counts a result.
func (m loadMetrics) push(ctx context.Context, state *lib.State, spec load.Spec, result load.Result) {
	current := state.Tags.GetCurrentValues()
	tags := current.Tags.WithTagsFromMap(spec.Tags)
	for name, value := range map[string]string{"arm": spec.Arm, "flow": spec.Flow, "network": spec.Network} {
		if value != "" {
			tags = tags.With(name, value)
		}
	}
	now := time.Now()
	var samples metrics.Samples
	add := func(metric *metrics.Metric, protocol session.Protocol, value float64) {
		samples = append(samples, metrics.Sample{
			TimeSeries: metrics.TimeSeries{Metric: metric, Tags: tags.With("protocol", string(protocol))},
			Time:       now, Value: value, Metadata: current.Metadata,
		})
	}
	for _, connection := range result.Connections {
		add(m.handshake, connection.Protocol, connection.HandshakeMs)
	}
	for _, response := range result.Report.Responses {
		add(m.waiting, response.Protocol, metrics.D(response.FirstByte))
	}
	// A load belongs to the protocol that it ended with, or, without a response, to the one it began with.
	protocol := result.LastProtocol
	if protocol == "" {
		protocol = spec.TimedSession().FirstProtocol
	}
	addKnown := func(metric *metrics.Metric, value *float64) {
		if value != nil {
			add(metric, protocol, *value)
		}
	}
	addKnown(m.ttfb, result.TTFBMs)
	addKnown(m.load, result.LoadMs)
	addKnown(m.edgeCPU, result.EdgeCPUMs)
	addKnown(m.clientCPU, result.ClientCPUMs)
	if result.SwitchHandshakeMs != nil {
		add(m.switchHandshake, session.H3, *result.SwitchHandshakeMs)
	}
	add(m.bytes, protocol, float64(result.Bytes))
	if result.DroppedLoss != nil && result.DroppedQueue != nil {
		add(m.pathDrops, protocol, float64(*result.DroppedLoss+*result.DroppedQueue))
	}
	// Zeros too, so that a threshold on a tag finds its series.
	add(m.failures, protocol, count(result.Outcome == load.OutcomeFailed))
	add(m.timeouts, protocol, count(result.Outcome == load.OutcomeTimeout))
	add(m.switches, protocol, count(result.Switched))
	add(m.broken, protocol, float64(result.Report.Broken))
	metrics.PushIfNotDone(ctx, state.Samples, samples)
}

func count(happened bool) float64 {
	if happened {
		return 1
	}
	return 0
}
