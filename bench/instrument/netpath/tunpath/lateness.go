package tunpath

// LatenessBoundsMs are the upper bounds of the histogram's classes; one more class is above the last.
var LatenessBoundsMs = [8]float64{0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10}

const lateNs = 1_000_000

// lateness counts by how much packets left after they were due.
type lateness struct {
	late   uint64
	maxNs  int64 // since the last configuration; the rest since the start
	counts [len(LatenessBoundsMs) + 1]uint64
}

func (l *lateness) count(ns int64) {
	l.maxNs = max(l.maxNs, ns)
	if ns > lateNs {
		l.late++
	}
	for i, bound := range LatenessBoundsMs {
		if float64(ns) <= bound*1e6 {
			l.counts[i]++
			return
		}
	}
	l.counts[len(LatenessBoundsMs)]++
}

func (l *lateness) add(other *lateness) {
	l.late += other.late
	l.maxNs = max(l.maxNs, other.maxNs)
	for i, n := range other.counts {
		l.counts[i] += n
	}
}
