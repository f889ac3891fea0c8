// Package pathconfig reads the configuration of a path and reports every fault in it at once.
package pathconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
//	  "rateMbps": 50,                // of IP packets; null: unlimited
//	  "delayMs": 12.5,               // one way
//	  "jitterMs": 1,                 // uniform, plus or minus; at most delayMs; keeps the order
//	  "lossRatio": 0.01,
//	  "burstLoss": {"goodToBad": 0.01, "badToGood": 0.25, "lossGood": 0, "lossBad": 1},   // or null
//	  "queueBytes": 1500000          // or queueMs
//	}
type Config struct {
	Seed     uint64
	AToB     shaper.Settings
	BToA     shaper.Settings
	Profile  []Step
	RepeatNs int64
}

// Step is the whole state of both directions from a time on.
type Step struct {
	AtNs int64
	AToB shaper.Settings
	BToA shaper.Settings
}

// Free is a path that neither limits, delays nor loses.
func Free() Config {
	free := shaper.Settings{QueueBytes: shaper.DefaultQueueBytes}
	return Config{Seed: 1, AToB: free, BToA: free}
}

// Fault is one thing that is wrong: where (RFC 6901) and what it must be.
type Fault struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Faults is all that is wrong with a configuration.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.Pointer + " " + fault.Message
		if fault.Pointer == "" {
			lines[i] = "the configuration " + fault.Message
		}
	}
	return strings.Join(lines, "\n")
}

// Parse reads a configuration. Its error is of type Faults.
func Parse(text []byte) (Config, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return Config{}, Faults{{"", fmt.Sprintf("is not JSON: %v", err)}}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Config{}, Faults{{"", "is followed by something else"}}
	}
	r := &reader{}
	config := readConfig(r, value)
	if len(r.faults) > 0 {
		return Config{}, r.faults
	}
	return config, nil
}

func readConfig(r *reader, value any) Config {
	config := Free()
	fields, ok := r.object("", value, "seed", "aToB", "bToA", "profile", "profileRepeatMs")
	if !ok {
		return config
	}
	if v, ok := fields["seed"]; ok {
		config.Seed = r.whole("/seed", v)
	}
	readDirection(r, "", "aToB", fields, &config.AToB)
	readDirection(r, "", "bToA", fields, &config.BToA)
	readProfile(r, fields, &config)
	return config
}

func readProfile(r *reader, fields map[string]any, config *Config) {
	var last int64
	if value, ok := fields["profile"]; ok {
		entries, isList := value.([]any)
		if !isList {
			r.fault("/profile", "must be a list")
		}
		at := Step{AToB: config.AToB, BToA: config.BToA}
		for i, entry := range entries {
			pointer := fmt.Sprintf("/profile/%d", i)
			entryFields, ok := r.object(pointer, entry, "atMs", "aToB", "bToA")
			if !ok {
				continue
			}
			if v, ok := entryFields["atMs"]; !ok {
				r.fault(pointer+"/atMs", "is missing")
			} else if ns, ok := r.ms(pointer+"/atMs", v, maxProfileMs); ok {
				if at.AtNs = ns; i > 0 && ns <= last {
					r.fault(pointer+"/atMs", "must be later than the entry before")
				}
				last = max(last, ns)
			}
			readDirection(r, pointer, "aToB", entryFields, &at.AToB)
			readDirection(r, pointer, "bToA", entryFields, &at.BToA)
			config.Profile = append(config.Profile, at)
		}
	}
	if v, ok := fields["profileRepeatMs"]; ok {
		ns, ok := r.ms("/profileRepeatMs", v, maxProfileMs)
		switch {
		case ok && len(config.Profile) == 0:
			r.fault("/profileRepeatMs", "repeats a profile that is missing")
		case ok && ns <= last:
			r.fault("/profileRepeatMs", "must be later than the last entry of the profile")
		}
		config.RepeatNs = ns
	}
}
