// Package netem joins two namespaces through a router namespace whose devices carry the kernel's netem.
package netem

import (
	"fmt"
	"math"
	"strconv"

	"adaptive-h3/bench/netpath/pathconfig"
	"adaptive-h3/bench/netpath/shaper"
)

// unlimitedPackets is netem's queue where nothing limits it: 1 Gbit/s over a second.
const unlimitedPackets = 100_000

// refuse names what netem cannot do as promised.
func refuse(config pathconfig.Config) error {
	var faults pathconfig.Faults
	check := func(pointer string, a, b shaper.Settings) {
		for _, d := range []struct {
			name     string
			settings shaper.Settings
		}{{"/aToB", a}, {"/bToA", b}} {
			if d.settings.JitterNs > 0 {
				faults = append(faults, pathconfig.Fault{
					Pointer: pointer + d.name + "/jitterMs",
					Message: "cannot be had from netem, whose jitter reorders packets: use -engine tun",
				})
			}
			if d.settings.Burst != nil && d.settings.LossRatio > 0 {
				faults = append(faults, pathconfig.Fault{
					Pointer: pointer + d.name + "/burstLoss",
					Message: "cannot be had from netem beside lossRatio: use -engine tun",
				})
			}
		}
	}
	check("", config.AToB, config.BToA)
	for i, step := range config.Profile {
		check(fmt.Sprintf("/profile/%d", i), step.AToB, step.BToA)
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// arguments are those of tc after "qdisc VERB dev DEVICE root". Two things differ from the TUN engine: netem loses
// before the bottleneck, and its limit counts packets, also those that propagate, so the bound on the queue is made of
// full packets and of what the rate has on its way.
func arguments(s shaper.Settings, seed uint64, mtu int) []string {
	args := []string{"netem", "limit", strconv.FormatInt(limitPackets(s, mtu), 10)}
	if s.DelayNs > 0 {
		args = append(args, "delay", strconv.FormatFloat(float64(s.DelayNs)/1e3, 'f', -1, 64)+"us")
	}
	switch {
	case s.Burst != nil:
		// tc's words are p, r, 1-h (the loss in the bad state) and 1-k (that in the good).
		args = append(args, "loss", "gemodel",
			percent(s.Burst.GoodToBad), percent(s.Burst.BadToGood), percent(s.Burst.LossBad), percent(s.Burst.LossGood))
	case s.LossRatio > 0:
		args = append(args, "loss", "random", percent(s.LossRatio))
	}
	if s.RateBps > 0 {
		args = append(args, "rate", strconv.FormatFloat(s.RateBps, 'f', 0, 64)+"bit")
	}
	if s.Burst != nil || s.LossRatio > 0 {
		args = append(args, "seed", strconv.FormatUint(seed, 10))
	}
	return args
}

func limitPackets(s shaper.Settings, mtu int) int64 {
	if s.RateBps == 0 {
		return unlimitedPackets
	}
	packets := func(bytes float64) int64 { return int64(math.Ceil(bytes / float64(mtu))) }
	queue := float64(s.QueueBytes)
	if s.QueueByTime {
		queue = s.RateBps / 8 * float64(s.QueueNs) / 1e9
	}
	return packets(queue) + packets(s.RateBps/8*float64(s.DelayNs)/1e9) + 1 // and the one that is being sent
}

func percent(ratio float64) string { return strconv.FormatFloat(100*ratio, 'f', 6, 64) + "%" }
