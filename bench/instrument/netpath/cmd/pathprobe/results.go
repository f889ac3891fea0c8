package main

import (
	"math"
	"slices"
)

// sample is what one run saw. receivedNs is 0 for a packet that did not arrive.
type sample struct {
	plan       []planned
	sentNs     []int64
	receivedNs []int64
	reordered  int
	// drops of the receiver's own socket: above 0, the run says nothing.
	receiverDrops uint64
	clockStepNs   int64
}

type quantiles struct {
	P1     float64 `json:"p1"`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

type common struct {
	Mode      string `json:"mode"`
	Sent      int    `json:"sent"`
	Received  int    `json:"received"`
	Reordered int    `json:"reordered"`
	// ReceiverDrops and ClockStepMs other than 0 (a step of the clock in between) make a run worthless.
	ReceiverDrops uint64  `json:"receiverDrops"`
	ClockStepMs   float64 `json:"clockStepMs"`
}

type delayResult struct {
	common
	N int `json:"n"`
	// OneWayMs is from just before the send call to the receiving kernel's stamp. IdealMs is what it should have been,
	// and ErrorMs the difference, packet by packet.
	OneWayMs     quantiles `json:"oneWayMs"`
	IdealMs      quantiles `json:"idealMs"`
	ErrorMs      quantiles `json:"errorMs"`
	LoadMbps     float64   `json:"loadMbps"`
	ResolutionMs float64   `json:"resolutionMs"`
}

type rateResult struct {
	common
	OfferedMbps  float64 `json:"offeredMbps"`
	RateMbps     float64 `json:"rateMbps"`
	RateBytes    int64   `json:"rateBytes"`
	RatePackets  int     `json:"ratePackets"`
	SteadyTimeMs float64 `json:"steadyTimeMs"`
}

type interval struct {
	Confidence float64 `json:"confidence"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}

type lossResult struct {
	common
	Lost            int      `json:"lost"`
	LossRatio       float64  `json:"lossRatio"`
	Interval        interval `json:"interval"`
	FamilyInterval  interval `json:"familyInterval"`
	Dispersion      float64  `json:"dispersion"`
	Bursts          int      `json:"bursts"`
	MeanBurstLength float64  `json:"meanBurstLength"`
}

func (s sample) common(mode string) common {
	c := common{
		Mode: mode, Sent: len(s.plan), Reordered: s.reordered, ReceiverDrops: s.receiverDrops,
		ClockStepMs: float64(s.clockStepNs) / 1e6,
	}
	for _, at := range s.receivedNs {
		if at != 0 {
			c.Received++
		}
	}
	return c
}

// resolutionMs is how far the stamps can be off by what they are: one clock reading before a send call that takes
// some microseconds.
const resolutionMs = 0.01

func (s sample) delay(rateMbps, delayMs float64) delayResult {
	result := delayResult{common: s.common("delay"), ResolutionMs: resolutionMs}
	ideal := idealNs(s.plan, s.sentNs, rateMbps, delayMs)
	var oneWay, should, difference []float64
	var loadBytes float64
	for i, p := range s.plan {
		if !p.probe {
			loadBytes += float64(p.size)
			continue
		}
		if s.receivedNs[i] == 0 {
			continue
		}
		took := float64(s.receivedNs[i] - s.sentNs[i])
		oneWay = append(oneWay, took/1e6)
		should = append(should, ideal[i]/1e6)
		difference = append(difference, (took-ideal[i])/1e6)
	}
	result.N = len(oneWay)
	result.OneWayMs, result.IdealMs, result.ErrorMs = quantilesOf(oneWay), quantilesOf(should), quantilesOf(difference)
	if span := s.sentNs[len(s.sentNs)-1] - s.sentNs[0]; span > 0 {
		result.LoadMbps = loadBytes * 8e3 / float64(span)
	}
	return result
}

// rate is that of what arrived in the middle of the run: after the queue has filled, before the sender ends.
func (s sample) rate(skipNs int64) rateResult {
	result := rateResult{common: s.common("rate")}
	first, last := s.sentNs[0], s.sentNs[len(s.sentNs)-1]
	for _, p := range s.plan {
		result.RateBytes += int64(p.size)
	}
	result.OfferedMbps = float64(result.RateBytes) * 8e3 / float64(max(1, last-first))
	result.RateBytes = 0
	var from, to int64
	for i, at := range s.receivedNs {
		if at == 0 || at < first+skipNs || at > last {
			continue
		}
		if from == 0 { // its bytes were sent before the window
			from = at
			continue
		}
		to = at
		result.RateBytes += int64(s.plan[i].size)
		result.RatePackets++
	}
	result.SteadyTimeMs = float64(to-from) / 1e6
	if to > from {
		result.RateMbps = float64(result.RateBytes) * 8e3 / float64(to-from)
	}
	return result
}

func (s sample) loss(confidence float64, family int, dispersion float64) lossResult {
	result := lossResult{common: s.common("loss"), Dispersion: dispersion}
	for i, at := range s.receivedNs {
		if at != 0 {
			continue
		}
		result.Lost++
		if i == 0 || s.receivedNs[i-1] != 0 {
			result.Bursts++
		}
	}
	n := float64(len(s.receivedNs))
	result.LossRatio = float64(result.Lost) / n
	if result.Bursts > 0 {
		result.MeanBurstLength = float64(result.Lost) / float64(result.Bursts)
	}
	of := func(confidence float64) interval {
		low, high := clopperPearson(float64(result.Lost)/dispersion, n/dispersion, confidence)
		return interval{confidence, low, high}
	}
	result.Interval = of(confidence)
	result.FamilyInterval = of(1 - (1-confidence)/float64(family))
	return result
}

func quantilesOf(values []float64) quantiles {
	if len(values) == 0 {
		return quantiles{}
	}
	slices.Sort(values)
	at := func(q float64) float64 { // the nearest rank
		return values[max(0, int(math.Ceil(q*float64(len(values))))-1)]
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return quantiles{at(0.01), at(0.5), sum / float64(len(values)), at(0.99), values[len(values)-1]}
}
