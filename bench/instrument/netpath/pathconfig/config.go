// Package pathconfig reads the configuration of a path and reports every fault in it at once.
package pathconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"adaptive-h3/bench/instrument/netpath/shaper"
)

// Config is:
//
//	{
//	  "seed": 1,                     // whole number from 0; default 1
//	  "aToB": DIRECTION,             // default: a free wire
//	  "bToA": DIRECTION,
//	  "profile": [                   // at each time since the configuration was set, the fields that change
//	    {"atMs": 5000, "aToB": DIRECTION, "bToA": DIRECTION}
//	  ],
//	  "profileRepeatMs": 20000       // start over from the beginning after this time
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
//	  "queueBytes": 1500000
//	}
type Config struct {
	Seed uint64
	// The beginning, at 0, and the profile. Times only grow.
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

// The bounds are those within which the emulator keeps its promises: memory, and arithmetic in nanoseconds.
const (
	minRateMbps   = 0.001
	maxRateMbps   = 100_000
	maxDelayMs    = 10_000
	maxQueueBytes = 64_000_000
	maxProfileMs  = 7 * 24 * 3600 * 1000
)

type direction struct {
	RateMbps, DelayMs, JitterMs, LossRatio float64
	UDPLossRatio                           float64
	QueueBytes                             int64
}

// check says all that is wrong with a direction, by the names of its fields.
func (d direction) check(at string) error {
	var faults []error
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
		{"queueBytes", float64(d.QueueBytes), 0, maxQueueBytes},
	} {
		if field.value < field.low || field.value > field.high {
			faults = append(faults, fmt.Errorf("%s.%s must be from %.10g to %.10g", at, field.name, field.low, field.high))
		}
	}
	return errors.Join(faults...)
}

func (d direction) settings() shaper.Settings {
	return shaper.Settings{
		RateBps: d.RateMbps * 1e6, DelayNs: nanoseconds(d.DelayMs), JitterNs: nanoseconds(d.JitterMs),
		LossRatio: d.LossRatio, UDPLossRatio: d.UDPLossRatio, QueueBytes: d.QueueBytes,
	}
}

func nanoseconds(ms float64) int64 { return int64(math.Round(ms * 1e6)) }

// Parse reads a configuration.
func Parse(text []byte) (Config, error) {
	free := direction{QueueBytes: shaper.DefaultQueueBytes}
	// A step changes what it names, and only that.
	type step struct {
		AtMs       float64
		AToB, BToA json.RawMessage
	}
	file := struct {
		Seed            uint64
		AToB, BToA      direction
		Profile         []step
		ProfileRepeatMs float64
	}{Seed: 1, AToB: free, BToA: free}
	if err := decode(text, &file); err != nil {
		return Config{}, fmt.Errorf("the configuration is not as it should be: %w", err)
	}
	config := Config{Seed: file.Seed, RepeatNs: nanoseconds(file.ProfileRepeatMs)}
	var faults []error
	add := func(at string, atMs float64) {
		faults = append(faults, file.AToB.check(at+"aToB"), file.BToA.check(at+"bToA"))
		settings := [2]shaper.Settings{file.AToB.settings(), file.BToA.settings()}
		config.Steps = append(config.Steps, Step{nanoseconds(atMs), settings})
	}
	add("", 0)
	lastMs := -1.0
	for i, step := range file.Profile {
		at := fmt.Sprintf("profile[%d].", i)
		if err := errors.Join(decode(step.AToB, &file.AToB), decode(step.BToA, &file.BToA)); err != nil {
			faults = append(faults, fmt.Errorf("%s is not as it should be: %w", strings.TrimSuffix(at, "."), err))
		}
		if step.AtMs < 0 || step.AtMs <= lastMs || step.AtMs > maxProfileMs {
			faults = append(faults, fmt.Errorf("%satMs must be later than the entry before, and at most %d", at, maxProfileMs))
		}
		lastMs = step.AtMs
		add(at, step.AtMs)
	}
	if repeatMs := file.ProfileRepeatMs; repeatMs != 0 && (repeatMs <= max(lastMs, 0) || repeatMs > maxProfileMs || lastMs < 0) {
		faults = append(faults, fmt.Errorf("profileRepeatMs must be later than the last entry of a profile, and at most %d", maxProfileMs))
	}
	return config, errors.Join(faults...)
}

// decode changes the fields that the text names, if there is one. A name that is no field is an error.
func decode(text []byte, into any) error {
	if text == nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}
