package netem

import (
	"strings"
	"testing"

	"adaptive-h3/bench/netpath/pathconfig"
	"adaptive-h3/bench/netpath/shaper"
)

func TestArguments(t *testing.T) {
	cases := map[string]struct {
		settings shaper.Settings
		want     string
	}{
		"free": {shaper.Settings{QueueBytes: 1_500_000}, "netem limit 100000"},
		"rate, delay, loss": {
			shaper.Settings{RateBps: 12e6, DelayNs: 12_500_000, LossRatio: 0.025, QueueBytes: 1_500_000},
			"netem limit 1014 delay 12500us loss random 2.500000% rate 12000000bit seed 7",
		},
		"a queue in time": {
			shaper.Settings{RateBps: 12e6, QueueByTime: true, QueueNs: 100_000_000},
			"netem limit 101 rate 12000000bit",
		},
		"bursts": {
			shaper.Settings{Burst: &shaper.GilbertElliott{GoodToBad: 0.01, BadToGood: 0.25, LossGood: 0.001, LossBad: 1}},
			"netem limit 100000 loss gemodel 1.000000% 25.000000% 100.000000% 0.100000% seed 7",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(arguments(c.settings, 7, 1500), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	jitter, both := shaper.Settings{JitterNs: 1, DelayNs: 1}, shaper.Settings{LossRatio: 0.1, Burst: &shaper.GilbertElliott{}}
	config := pathconfig.Config{AToB: jitter, BToA: both, Profile: []pathconfig.Step{{BToA: jitter}}}
	err := refuse(config)
	if err == nil {
		t.Fatal("nothing was refused")
	}
	for _, pointer := range []string{"/aToB/jitterMs", "/bToA/burstLoss", "/profile/0/bToA/jitterMs"} {
		if !strings.Contains(err.Error(), pointer+" ") {
			t.Errorf("%s was not refused", pointer)
		}
	}
	if err := refuse(pathconfig.Free()); err != nil {
		t.Errorf("a free wire was refused: %v", err)
	}
}

func TestParseStats(t *testing.T) {
	text := `[{"kind":"netem","bytes":3000,"packets":2,"drops":1,"overlimits":0,"backlog":1514,"qlen":1}]`
	got, err := parseStats([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got.ForwardedBytes != 3000 || got.ForwardedPackets != 2 || got.ReceivedPackets != 4 || got.QueuedBytes != 1514 {
		t.Errorf("got %+v", got)
	}
	if _, err := parseStats([]byte(`[]`)); err == nil {
		t.Error("no netem, and no error")
	}
}
