package connpath

import (
	"testing"
	"time"
)

func TestReadingSince(t *testing.T) {
	earlier := Reading{RTT: time.Second, PacketsSent: 10, PacketsLost: 3, BytesSent: 1000, PacketsReceived: 5, Retransmitted: 3}
	now := Reading{RTT: ms, PacketsSent: 15, PacketsLost: 2, BytesSent: 1500, PacketsReceived: 7, Retransmitted: 3, DeliveryRate: 9}
	if got := now.since(Reading{}); got != now {
		t.Errorf("since the beginning: %+v", got)
	}
	// Of the losses one was late: that is no count below 0.
	if got := now.since(earlier); got != (Reading{RTT: ms, PacketsSent: 5, BytesSent: 500, PacketsReceived: 2, DeliveryRate: 9}) {
		t.Errorf("%+v", got)
	}
}
