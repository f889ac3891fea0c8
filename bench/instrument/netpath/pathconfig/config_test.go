package pathconfig

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"adaptive-h3/bench/instrument/netpath/shaper"
)

func TestValid(t *testing.T) {
	base := shaper.Settings{QueueBytes: defaultQueueBytes}
	cases := map[string]struct {
		text string
		want Config
	}{
		"one step": {`{"steps": [{}]}`, Config{Steps: []Step{{0, [2]shaper.Settings{base, base}}}}},
		"all fields": {
			`{"seed": 18446744073709551615, "repeatMs": 3,
			  "steps": [{"aToB": {"rateMbps": 50, "delayMs": 12.5, "jitterMs": 1, "lossRatio": 0.01, "udpLossRatio": 0.5, "udpRateMbps": 5, "udpBurstBytes": 3000, "udpMaxBytes": 1280, "queueBytes": 9, "queue": "fq_codel"}},
			            {"atMs": 2, "bToA": {"delayMs": 1}}]}`,
			Config{Seed: 1<<64 - 1, RepeatNs: 3_000_000, Steps: []Step{
				{0, [2]shaper.Settings{{
					RateMbps: 50, DelayMs: 12.5, JitterMs: 1, LossRatio: 0.01, UDPLossRatio: 0.5,
					UDPRateMbps: 5, UDPBurstBytes: 3000, UDPMaxBytes: 1280, QueueBytes: 9, Queue: shaper.FQCoDel,
				}, base}},
				{2_000_000, [2]shaper.Settings{base, {DelayMs: 1, QueueBytes: defaultQueueBytes}}},
			}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// Each line of the error begins with the field that it is about.
func TestInvalid(t *testing.T) {
	const whole, none = "the configuration is not as it should be", "there must be a step"
	cases := map[string]struct {
		text string
		want []string
	}{
		"not JSON":                    {`{`, []string{whole}},
		"not an object":               {`[]`, []string{whole}},
		"nothing":                     {`{}`, []string{none}},
		"an unknown field":            {`{"steps": [{"aToB": {"delay": 3}}]}`, []string{whole + `: json: unknown field "delay"`}},
		"an unknown field at the top": {`{"aToB": {}}`, []string{whole + `: json: unknown field "aToB"`}},
		"a text for a number":         {`{"steps": [{"aToB": {"queueBytes": "9"}}]}`, []string{whole}},
		"half a byte":                 {`{"steps": [{"aToB": {"queueBytes": 0.5}}]}`, []string{whole}},
		"a seed below 0":              {`{"seed": -1}`, []string{whole}},
		"a number too large to hold":  {`{"steps": [{"aToB": {"rateMbps": 1e999}}]}`, []string{whole}},
		"numbers": {
			`{"steps": [{"aToB": {"rateMbps": 0.0001, "delayMs": -1, "lossRatio": 1.01},
			  "bToA": {"rateMbps": -5, "delayMs": 10001, "lossRatio": -0.1, "queueBytes": 64000001}}]}`,
			[]string{
				"steps[0].aToB.rateMbps must be from 0.001 to 100000", "steps[0].aToB.delayMs", "steps[0].aToB.jitterMs",
				"steps[0].aToB.lossRatio", "steps[0].bToA.rateMbps", "steps[0].bToA.delayMs", "steps[0].bToA.lossRatio",
				"steps[0].bToA.queueBytes must be from 0 to 64000000",
			},
		},
		"a bucket that holds no packet": {
			`{"steps": [{"aToB": {"udpRateMbps": 1, "udpBurstBytes": 1499}}]}`, []string{"steps[0].aToB.udpBurstBytes must be from 1500"},
		},
		"a bucket without a size": {
			`{"steps": [{"aToB": {"udpRateMbps": 1}}]}`, []string{"steps[0].aToB.udpBurstBytes must be from 1500"},
		},
		"a queue of another kind": {
			`{"steps": [{"aToB": {"rateMbps": 1, "queue": "red"}}]}`, []string{`steps[0].aToB.queue must be "fq_codel" or left out`},
		},
		"a queue before no bottleneck": {
			`{"steps": [{"bToA": {"queue": "fq_codel"}}]}`, []string{"steps[0].bToA.queue needs a bottleneck: rateMbps"},
		},
		"more jitter than delay": {
			`{"steps": [{"aToB": {"delayMs": 1, "jitterMs": 2}}]}`, []string{"steps[0].aToB.jitterMs must be from 0 to 1"},
		},
		"times": {
			`{"steps": [{"atMs": 1}, {"atMs": 5}, {"atMs": 5}, {"atMs": 6, "aToB": {"lossRatio": 2}}, {"atMs": 1e9}], "repeatMs": 6}`,
			[]string{"steps[0].atMs", "steps[2].atMs", "steps[3].aToB.lossRatio", "steps[4].atMs", "there must be"},
		},
		"a first step below 0":          {`{"steps": [{"atMs": -1}]}`, []string{"steps[0].atMs"}},
		"a repetition of nothing":       {`{"repeatMs": 5}`, []string{none}},
		"a repetition at the last step": {`{"steps": [{}, {"atMs": 5}], "repeatMs": 5}`, []string{none}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.Split(err.Error(), "\n")
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestChanges(t *testing.T) {
	config := Config{RepeatNs: 100, Steps: []Step{{AtNs: 0}, {AtNs: 20}, {AtNs: 50}}}
	times := func(config Config) (atNs []int64) {
		for n := 1; n <= 7; n++ {
			if step, ok := config.Change(n); ok {
				atNs = append(atNs, step.AtNs)
			}
		}
		return atNs
	}
	if got, want := times(config), []int64{20, 50, 100, 120, 150, 200, 220}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	config.RepeatNs = 0
	if got, want := times(config), []int64{20, 50}; !slices.Equal(got, want) {
		t.Errorf("without a repetition: got %v, want %v", got, want)
	}
}
