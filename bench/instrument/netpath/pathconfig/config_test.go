package pathconfig

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"adaptive-h3/bench/instrument/netpath/shaper"
)

func TestValid(t *testing.T) {
	base := Free().AToB
	with := func(change func(*shaper.Settings)) shaper.Settings {
		s := base
		change(&s)
		return s
	}
	cases := map[string]struct {
		text string
		want Config
	}{
		"nothing": {`{}`, Free()},
		"all fields": {
			`{"seed": 18446744073709551615,
			  "aToB": {"rateMbps": 50, "delayMs": 12.5, "jitterMs": 1, "lossRatio": 0.01, "queueBytes": 0,
			           "burstLoss": {"goodToBad": 0.01, "badToGood": 0.25, "lossGood": 0, "lossBad": 1}},
			  "bToA": {"rateMbps": null, "queueMs": 100}}`,
			Config{
				Seed: 1<<64 - 1,
				AToB: shaper.Settings{
					RateBps: 50e6, DelayNs: 12_500_000, JitterNs: 1_000_000, LossRatio: 0.01,
					Burst: &shaper.GilbertElliott{GoodToBad: 0.01, BadToGood: 0.25, LossBad: 1},
				},
				BToA: with(func(s *shaper.Settings) { s.QueueByTime, s.QueueNs = true, 100_000_000 }),
			},
		},
		"a profile changes what it names, and only that": {
			`{"aToB": {"rateMbps": 5, "queueMs": 7, "delayMs": 3, "jitterMs": 2}, "profileRepeatMs": 3,
			  "profile": [{"atMs": 1, "aToB": {"lossRatio": 0.5}}, {"atMs": 2, "aToB": {"queueBytes": 9}, "bToA": {"delayMs": 1}}]}`,
			func() Config {
				first := with(func(s *shaper.Settings) {
					s.RateBps, s.QueueByTime, s.QueueNs, s.DelayNs, s.JitterNs = 5e6, true, 7_000_000, 3_000_000, 2_000_000
				})
				second, third := first, first
				second.LossRatio = 0.5
				third.LossRatio, third.QueueByTime, third.QueueBytes = 0.5, false, 9
				back := with(func(s *shaper.Settings) { s.DelayNs = 1_000_000 })
				return Config{
					Seed: 1, AToB: first, BToA: base, RepeatNs: 3_000_000,
					Profile: []Step{{1_000_000, second, base}, {2_000_000, third, back}},
				}
			}(),
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

func TestInvalid(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string
	}{
		"not JSON":       {`{`, []string{""}},
		"two values":     {`{} {}`, []string{""}},
		"not an object":  {`[]`, []string{""}},
		"unknown fields": {`{"z": 1, "a/b": 2, "aToB": {"delay": 3}}`, []string{"/a~1b", "/z", "/aToB/delay"}},
		"numbers": {
			`{"seed": -1, "aToB": {"rateMbps": 0, "delayMs": -1, "lossRatio": 1.01, "queueBytes": "9"},
			  "bToA": {"rateMbps": -5, "jitterMs": null, "lossRatio": -0.1, "queueMs": 1e9}}`,
			[]string{
				"/seed", "/aToB/rateMbps", "/aToB/delayMs", "/aToB/lossRatio", "/aToB/queueBytes",
				"/bToA/rateMbps", "/bToA/jitterMs", "/bToA/lossRatio", "/bToA/queueMs",
			},
		},
		"a seed that is no whole number": {`{"seed": 1.5}`, []string{"/seed"}},
		"a number too large to hold":     {`{"aToB": {"rateMbps": 1e999}}`, []string{"/aToB/rateMbps"}},
		"two queues":                     {`{"aToB": {"queueMs": 1, "queueBytes": 1}}`, []string{"/aToB/queueMs"}},
		"more jitter than delay":         {`{"aToB": {"delayMs": 1, "jitterMs": 2}}`, []string{"/aToB/jitterMs"}},
		"burst loss": {
			`{"aToB": {"burstLoss": {"goodToBad": 2, "lossBad": 1, "p": 0}}, "bToA": {"burstLoss": 1}}`,
			[]string{
				"/aToB/burstLoss/p", "/aToB/burstLoss/goodToBad", "/aToB/burstLoss/badToGood",
				"/aToB/burstLoss/lossGood", "/bToA/burstLoss",
			},
		},
		"profile": {
			`{"profile": [1, {}, {"atMs": 5}, {"atMs": 5}, {"atMs": 6, "aToB": {"lossRatio": 2}}], "profileRepeatMs": 6}`,
			[]string{"/profile/0", "/profile/1/atMs", "/profile/3/atMs", "/profile/4/aToB/lossRatio", "/profileRepeatMs"},
		},
		"a profile that makes the jitter exceed the delay": {
			`{"aToB": {"delayMs": 5, "jitterMs": 2}, "profile": [{"atMs": 1, "aToB": {"delayMs": 1}}]}`,
			[]string{"/profile/0/aToB/jitterMs"},
		},
		"a profile that is no list":      {`{"profile": {}}`, []string{"/profile"}},
		"a repetition of nothing":        {`{"profileRepeatMs": 5}`, []string{"/profileRepeatMs"}},
		"directions that are no objects": {`{"aToB": [], "bToA": null}`, []string{"/aToB", "/bToA"}},
		"half a byte, and too many":      {`{"aToB": {"queueBytes": 0.5}, "bToA": {"queueBytes": 64000001}}`, []string{"/aToB/queueBytes", "/bToA/queueBytes"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("got %v", err)
			}
			got := []string{}
			for _, f := range faults {
				got = append(got, f.Pointer)
				if f.Message == "" {
					t.Errorf("%s has no message", f.Pointer)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v\nwant %v", got, c.want)
			}
		})
	}
}

func TestTimeline(t *testing.T) {
	config := Config{AToB: shaper.Settings{DelayNs: 1}, RepeatNs: 100, Profile: []Step{
		{AtNs: 20, AToB: shaper.Settings{DelayNs: 2}},
		{AtNs: 50, AToB: shaper.Settings{DelayNs: 3}},
	}}
	walk := func(config Config, n int) (steps [][2]int64) {
		timeline := NewTimeline(config)
		for range n {
			step, ok := timeline.Peek()
			if !ok {
				break
			}
			steps = append(steps, [2]int64{step.AtNs, step.AToB.DelayNs})
			timeline.Advance()
		}
		return steps
	}
	want := [][2]int64{{20, 2}, {50, 3}, {100, 1}, {120, 2}, {150, 3}, {200, 1}, {220, 2}}
	if got := walk(config, 7); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	config.RepeatNs = 0
	if got := walk(config, 7); !slices.Equal(got, want[:2]) {
		t.Errorf("without a repetition: got %v", got)
	}
}
