package shaper

// lossProcess decides which packets the wire loses.
type lossProcess struct {
	independent stream
	burstStep   stream
	burstLoss   stream
	burstStart  stream
	burst       GilbertElliott
	bad         bool
}

func (l *lossProcess) seed(seed uint64, direction int) {
	l.independent.seed(seed, direction, streamLoss)
	l.burstStep.seed(seed, direction, streamBurstStep)
	l.burstLoss.seed(seed, direction, streamBurstLoss)
	l.burstStart.seed(seed, direction, streamBurstStart)
	l.burst, l.bad = GilbertElliott{}, false
}

// use takes the chain's parameters. A chain that begins does so in its stationary state, so that the first packets
// of a short run lose as much as later ones; one that is only changed keeps its state.
func (l *lossProcess) use(burst GilbertElliott) {
	if none := (GilbertElliott{}); burst != none && l.burst == none {
		l.bad = l.burstStart.next() < burst.StationaryBad()
	}
	l.burst = burst
}

// decide is called once for each packet that reaches the wire, in order. As in netem, a packet is lost by the state
// that it meets, and the chain steps after it.
func (l *lossProcess) decide(lossRatio float64) Verdict {
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
	return verdict
}
