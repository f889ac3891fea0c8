package pathconfig

import (
	"fmt"

	"adaptive-h3/bench/instrument/netpath/shaper"
)

// The bounds are those within which the emulator keeps its promises: memory, and arithmetic in nanoseconds.
const (
	minRateMbps   = 0.001
	maxRateMbps   = 100_000
	maxDelayMs    = 10_000
	maxQueueMs    = 60_000
	maxQueueBytes = 64_000_000
	maxProfileMs  = 7 * 24 * 3600 * 1000
)

// readDirection changes the fields that parent's direction names, if it has that direction.
func readDirection(r *reader, pointer, name string, parent map[string]any, s *shaper.Settings) {
	value, ok := parent[name]
	if !ok {
		return
	}
	at := pointer + "/" + name
	fields, ok := r.object(at, value,
		"rateMbps", "delayMs", "jitterMs", "lossRatio", "burstLoss", "queueMs", "queueBytes")
	if !ok {
		return
	}
	if v, ok := fields["rateMbps"]; ok {
		s.RateBps = 0
		if v != nil {
			mbps, _ := r.number(at+"/rateMbps", v, minRateMbps, maxRateMbps, "or null for unlimited")
			s.RateBps = mbps * 1e6
		}
	}
	if v, ok := fields["delayMs"]; ok {
		s.DelayNs, _ = r.ms(at+"/delayMs", v, maxDelayMs)
	}
	if v, ok := fields["jitterMs"]; ok {
		s.JitterNs, _ = r.ms(at+"/jitterMs", v, maxDelayMs)
	}
	if s.JitterNs > s.DelayNs {
		r.fault(at+"/jitterMs", "must be at most delayMs: a packet cannot arrive before it was sent")
	}
	if v, ok := fields["lossRatio"]; ok {
		s.LossRatio = r.ratio(at+"/lossRatio", v)
	}
	if v, ok := fields["burstLoss"]; ok {
		s.Burst = readBurst(r, at+"/burstLoss", v)
	}
	readQueue(r, at, fields, s)
}

func readQueue(r *reader, at string, fields map[string]any, s *shaper.Settings) {
	queueMs, inTime := fields["queueMs"]
	queueBytes, inBytes := fields["queueBytes"]
	if inTime && inBytes {
		r.fault(at+"/queueMs", "and queueBytes exclude each other")
	}
	if inTime {
		s.QueueByTime = true
		s.QueueNs, _ = r.ms(at+"/queueMs", queueMs, maxQueueMs)
	}
	if inBytes {
		s.QueueByTime = false
		if s.QueueBytes = int64(r.whole(at+"/queueBytes", queueBytes)); s.QueueBytes > maxQueueBytes || s.QueueBytes < 0 {
			r.fault(at+"/queueBytes", fmt.Sprintf("must be at most %d", maxQueueBytes))
		}
	}
}

func readBurst(r *reader, at string, value any) *shaper.GilbertElliott {
	if value == nil {
		return nil
	}
	names := []string{"goodToBad", "badToGood", "lossGood", "lossBad"}
	fields, ok := r.object(at, value, names...)
	if !ok {
		return nil
	}
	var numbers [4]float64
	for i, name := range names {
		v, ok := fields[name]
		if !ok {
			r.fault(at+"/"+name, "is missing")
			continue
		}
		numbers[i] = r.ratio(at+"/"+name, v)
	}
	return &shaper.GilbertElliott{
		GoodToBad: numbers[0], BadToGood: numbers[1], LossGood: numbers[2], LossBad: numbers[3],
	}
}
