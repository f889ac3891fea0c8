// Package shaper is the emulated link of one direction: a bottleneck with a drop-tail queue, then a lossy wire with a
// delay. It is pure: time is an argument, packets are a size and a slot number.
package shaper

// DefaultQueueBytes is 1000 full packets, the default limit of netem.
const DefaultQueueBytes = 1_500_000

// Settings are those of one direction. The zero value is a wire that neither limits, delays nor loses.
type Settings struct {
	// RateBps is the bottleneck in bits of IP packet per second; 0 is unlimited.
	RateBps float64
	DelayNs int64
	// JitterNs is the half width of a uniform variation of the delay; at most DelayNs.
	JitterNs  int64
	LossRatio float64
	// UDPLossRatio is what a network drops of UDP alone, before the bottleneck, as one that polices it.
	UDPLossRatio float64
	// QueueBytes bounds what waits, without the packet that is being sent.
	QueueBytes int64
}
