package shaper

import "math"

// lossProcess decides which packets the wire loses.
type lossProcess struct {
	independent stream
	burstStep   stream
	burstLoss   stream
	burstStart  stream
	burst       GilbertElliott
	bad         bool

	outageTime stream
	outageLoss stream
	outages    Outages
	isOut      bool
	untilNs    int64 // when this state of the outages ends
}

func (l *lossProcess) seed(seed uint64, direction int) {
	l.independent.seed(seed, direction, streamLoss)
	l.burstStep.seed(seed, direction, streamBurstStep)
	l.burstLoss.seed(seed, direction, streamBurstLoss)
	l.burstStart.seed(seed, direction, streamBurstStart)
	l.burst, l.bad = GilbertElliott{}, false
	l.outageTime.seed(seed, direction, streamOutageTime)
	l.outageLoss.seed(seed, direction, streamOutageLoss)
	l.outages, l.isOut = Outages{}, false
}

// use takes the chain's parameters. A chain that begins does so in its stationary state, so that the first packets
// of a short run lose as much as later ones; one that is only changed keeps its state.
func (l *lossProcess) use(burst GilbertElliott, outages Outages, nowNs int64) {
	if none := (GilbertElliott{}); burst != none && l.burst == none {
		l.bad = l.burstStart.next() < burst.StationaryBad()
	}
	l.burst = burst
	if none := (Outages{}); outages != none && l.outages == none {
		l.isOut = l.outageTime.next() < outages.BadShare()
		l.outages = outages
		l.untilNs = nowNs + l.lasts()
	}
	l.outages = outages
}

// lasts draws how long the state of the outages lasts.
func (l *lossProcess) lasts() int64 {
	mean := l.outages.GoodNs
	if l.isOut {
		mean = l.outages.BadNs
	}
	return int64(-math.Log(1-l.outageTime.next()) * float64(mean))
}

// out says whether an outage loses a packet at nowNs.
func (l *lossProcess) out(nowNs int64) bool {
	unit := l.outageLoss.next()
	if l.outages == (Outages{}) {
		return false
	}
	for l.untilNs <= nowNs {
		l.isOut = !l.isOut
		l.untilNs += l.lasts()
	}
	return l.isOut && unit < l.outages.LossBad
}

// decide is called once for each packet that reaches the wire, in order. As in netem, a packet is lost by the state
// that it meets, and the chain steps after it.
func (l *lossProcess) decide(lossRatio float64, nowNs int64) Verdict {
	independent, step, loss := l.independent.next(), l.burstStep.next(), l.burstLoss.next()
	verdict := Accepted
	if independent < lossRatio {
		verdict = DroppedLoss
	}
	lossHere, leave := l.burst.LossGood, l.burst.GoodToBad
	if l.bad {
		lossHere, leave = l.burst.LossBad, l.burst.BadToGood
	}
	if loss < lossHere {
		verdict = DroppedBurst
	}
	if step < leave {
		l.bad = !l.bad
	}
	if l.out(nowNs) {
		verdict = DroppedBurst
	}
	return verdict
}
