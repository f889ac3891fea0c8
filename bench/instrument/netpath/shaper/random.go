package shaper

import "math/rand/v2"

// stream is one sequence of numbers in [0, 1). Each purpose has its own and takes exactly one number a packet, also
// when its setting is 0: so a change of one setting moves no decision of another.
type stream struct {
	pcg rand.PCG
}

const (
	streamLoss   = 0
	streamJitter = 4 // the numbers between were others': a recorded run's seed gives the same drops
	streamPolice = 7
)

func (s *stream) seed(seed uint64, direction, purpose int) {
	id := uint64(direction)<<8 | uint64(purpose)
	s.pcg.Seed(splitMix(seed), splitMix(seed^splitMix(id+1)))
}

func (s *stream) next() float64 {
	return float64(s.pcg.Uint64()>>11) / (1 << 53)
}

// splitMix is the finaliser of SplitMix64: neighbouring seeds must not give neighbouring states.
func splitMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
