package pathconfig

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"adaptive-h3/bench/instrument/netpath/shaper"
)

func TestValid(t *testing.T) {
	base := shaper.Settings{QueueBytes: shaper.DefaultQueueBytes}
	with := func(s shaper.Settings, change func(*shaper.Settings)) shaper.Settings {
		change(&s)
		return s
	}
	first := with(base, func(s *shaper.Settings) { s.RateBps, s.DelayNs, s.JitterNs = 5e6, 3_000_000, 2_000_000 })
	second := with(first, func(s *shaper.Settings) { s.LossRatio = 0.5 })
	third := with(second, func(s *shaper.Settings) { s.QueueBytes = 9 })
	back := with(base, func(s *shaper.Settings) { s.DelayNs = 1_000_000 })
	cases := map[string]struct {
		text string
		want Config
	}{
		"nothing": {`{}`, Config{Seed: 1, Steps: []Step{{0, [2]shaper.Settings{base, base}}}}},
		"all fields": {
			`{"seed": 18446744073709551615,
			  "aToB": {"rateMbps": 50, "delayMs": 12.5, "jitterMs": 1, "lossRatio": 0.01, "queueBytes": 0},
			  "bToA": {"rateMbps": 0}}`,
			Config{Seed: 1<<64 - 1, Steps: []Step{{0, [2]shaper.Settings{{
				RateBps: 50e6, DelayNs: 12_500_000, JitterNs: 1_000_000, LossRatio: 0.01,
			}, base}}}},
		},
		"a profile changes what it names, and only that": {
			`{"aToB": {"rateMbps": 5, "delayMs": 3, "jitterMs": 2}, "profileRepeatMs": 3,
			  "profile": [{"atMs": 1, "aToB": {"lossRatio": 0.5}}, {"atMs": 2, "aToB": {"queueBytes": 9}, "bToA": {"delayMs": 1}}]}`,
			Config{Seed: 1, RepeatNs: 3_000_000, Steps: []Step{
				{0, [2]shaper.Settings{first, base}},
				{1_000_000, [2]shaper.Settings{second, base}},
				{2_000_000, [2]shaper.Settings{third, back}},
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
	const whole = "the configuration is not as it should be"
	cases := map[string]struct {
		text string
		want []string
	}{
		"not JSON":      {`{`, []string{whole}},
		"not an object": {`[]`, []string{whole}},
		"an unknown field": {
			`{"profile": [{"atMs": 1, "bToA": {"delay": 3}}]}`,
			[]string{`profile[0] is not as it should be: json: unknown field "delay"`},
		},
		"an unknown field at the top": {`{"aToB": {"delay": 3}}`, []string{whole + `: json: unknown field "delay"`}},
		"a text for a number":         {`{"aToB": {"queueBytes": "9"}}`, []string{whole}},
		"half a byte":                 {`{"aToB": {"queueBytes": 0.5}}`, []string{whole}},
		"a seed below 0":              {`{"seed": -1}`, []string{whole}},
		"a number too large to hold":  {`{"aToB": {"rateMbps": 1e999}}`, []string{whole}},
		"numbers": {
			`{"aToB": {"rateMbps": 0.0001, "delayMs": -1, "lossRatio": 1.01},
			  "bToA": {"rateMbps": -5, "delayMs": 10001, "lossRatio": -0.1, "queueBytes": 64000001}}`,
			[]string{
				"aToB.rateMbps must be from 0.001 to 100000", "aToB.delayMs", "aToB.jitterMs", "aToB.lossRatio",
				"bToA.rateMbps", "bToA.delayMs", "bToA.lossRatio", "bToA.queueBytes must be from 0 to 64000000",
			},
		},
		"more jitter than delay": {`{"aToB": {"delayMs": 1, "jitterMs": 2}}`, []string{"aToB.jitterMs must be from 0 to 1"}},
		"profile": {
			`{"profile": [{"atMs": -1}, {"atMs": 5}, {"atMs": 5}, {"atMs": 6, "aToB": {"lossRatio": 2}}], "profileRepeatMs": 6}`,
			[]string{"profile[0].atMs", "profile[2].atMs", "profile[3].aToB.lossRatio", "profileRepeatMs"},
		},
		"a profile that makes the jitter exceed the delay": {
			`{"aToB": {"delayMs": 5, "jitterMs": 2}, "profile": [{"atMs": 1, "aToB": {"delayMs": 1}}]}`,
			[]string{"profile[0].aToB.jitterMs"},
		},
		"a repetition of nothing": {`{"profileRepeatMs": 5}`, []string{"profileRepeatMs"}},
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
