// Package pathconfig reads the configuration of a path and reports every fault in it at once.
package pathconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"adaptive-h3/bench/instrument/netpath/shaper"
)

// Config is:
//
//	{
//	  "seed": 1,                     // whole number from 0
//	  "steps": [                     // what is so from each time on, since the configuration was set; the first is at 0
//	    {"atMs": 5000, "aToB": DIRECTION, "bToA": DIRECTION}
//	  ],
//	  "repeatMs": 20000              // start over from the beginning after this time
//	}
//
// and DIRECTION, in which every field may be left out:
//
//	{
//	  "rateMbps": 50,                // of IP packets; 0: unlimited
//	  "delayMs": 12.5,               // one way
//	  "jitterMs": 1,                 // uniform, plus or minus; at most delayMs; keeps the order
//	  "lossRatio": 0.01,
//	  "udpLossRatio": 0.08,          // of UDP alone, before the queue: a network that polices it
//	  "udpRateMbps": 5,              // of UDP alone, by a token bucket in the same place; 0: no bucket
//	  "udpBurstBytes": 100000,       // what that bucket holds
//	  "udpMaxBytes": 1280,           // larger IP packets of UDP are dropped; 0: none
//	  "queueBytes": 1500000,         // 0: netem's default limit, 1000 full packets
//	  "queue": "fq_codel"            // of RFC 8290, before a bottleneck; it drops and marks nothing. Without it: drop-tail
//	}
type Config struct {
	Seed uint64
	// The first is at 0. Times only grow.
	Steps    []Step
	RepeatNs int64
}

// Step is the whole state of both directions, a to b and b to a, from a time on.
type Step struct {
	AtNs     int64
	Settings [2]shaper.Settings
}

// Change is the n-th change since the configuration was set, from 1; false if there is none.
func (c Config) Change(n int) (Step, bool) {
	if n >= len(c.Steps) && c.RepeatNs == 0 {
		return Step{}, false
	}
	step := c.Steps[n%len(c.Steps)]
	step.AtNs += int64(n/len(c.Steps)) * c.RepeatNs
	return step, true
}

// defaultQueueBytes is 1000 full packets, the default limit of netem.
const defaultQueueBytes = 1_500_000

// The bounds are those within which the emulator keeps its promises: memory, and arithmetic in nanoseconds.
const (
	minRateMbps   = 0.001
	maxRateMbps   = 100_000
	maxDelayMs    = 10_000
	maxQueueBytes = 64_000_000
	maxMs         = 7 * 24 * 3600 * 1000

	fullPacketBytes = 1_500
)

// check says all that is wrong with a direction, by the names of its fields.
func check(d shaper.Settings, at string) error {
	var faults []error
	leastBurst := 0.0
	if d.UDPRateMbps > 0 {
		leastBurst = fullPacketBytes // a bucket that no packet fits into would be a block
	}
	for _, field := range []struct {
		name             string
		value, low, high float64
	}{
		{"rateMbps", cmp.Or(d.RateMbps, minRateMbps), minRateMbps, maxRateMbps},
		{"delayMs", d.DelayMs, 0, maxDelayMs},
		// A packet cannot arrive before it was sent.
		{"jitterMs", d.JitterMs, 0, d.DelayMs},
		{"lossRatio", d.LossRatio, 0, 1},
		{"udpLossRatio", d.UDPLossRatio, 0, 1},
		{"udpRateMbps", cmp.Or(d.UDPRateMbps, minRateMbps), minRateMbps, maxRateMbps},
		{"udpBurstBytes", float64(d.UDPBurstBytes), leastBurst, maxQueueBytes},
		{"udpMaxBytes", float64(d.UDPMaxBytes), 0, maxQueueBytes},
		{"queueBytes", float64(d.QueueBytes), 0, maxQueueBytes},
	} {
		if field.value < field.low || field.value > field.high {
			faults = append(faults, fmt.Errorf("%s.%s must be from %.10g to %.10g", at, field.name, field.low, field.high))
		}
	}
	if d.Queue != shaper.DropTail && d.Queue != shaper.FQCoDel {
		faults = append(faults, fmt.Errorf("%s.queue must be %q or left out", at, shaper.FQCoDel))
	}
	if d.Queue == shaper.FQCoDel && d.RateMbps == 0 {
		faults = append(faults, fmt.Errorf("%s.queue needs a bottleneck: rateMbps", at))
	}
	return errors.Join(faults...)
}

func nanoseconds(ms float64) int64 { return int64(math.Round(ms * 1e6)) }

// Parse reads a configuration.
func Parse(text []byte) (Config, error) {
	var file struct {
		Seed  uint64
		Steps []struct {
			AtMs       float64
			AToB, BToA shaper.Settings
		}
		RepeatMs float64
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return Config{}, fmt.Errorf("the configuration is not as it should be: %w", err)
	}
	config := Config{Seed: file.Seed, RepeatNs: nanoseconds(file.RepeatMs)}
	var faults []error
	nextMs := 0.0
	for i, step := range file.Steps {
		at := fmt.Sprintf("steps[%d].", i)
		faults = append(faults, check(step.AToB, at+"aToB"), check(step.BToA, at+"bToA"))
		if step.AtMs < nextMs || step.AtMs > maxMs || i == 0 && step.AtMs != 0 {
			faults = append(faults, fmt.Errorf("%satMs must be 0 in the first step, later in each that follows, and at most %d", at, maxMs))
		}
		nextMs = math.Nextafter(step.AtMs, math.Inf(1))
		settings := [2]shaper.Settings{step.AToB, step.BToA}
		for way := range settings {
			settings[way].QueueBytes = cmp.Or(settings[way].QueueBytes, defaultQueueBytes)
		}
		config.Steps = append(config.Steps, Step{nanoseconds(step.AtMs), settings})
	}
	if file.RepeatMs != 0 && (file.RepeatMs < nextMs || file.RepeatMs > maxMs) || len(file.Steps) == 0 {
		faults = append(faults, fmt.Errorf("there must be a step, and repeatMs must be later than the last one, and at most %d", maxMs))
	}
	return config, errors.Join(faults...)
}
