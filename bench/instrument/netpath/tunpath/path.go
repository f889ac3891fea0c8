// Package tunpath carries packets between two namespaces through two TUN devices and two shapers.
package tunpath

import (
	"sync"

	"adaptive-h3/bench/instrument/netpath/pathconfig"
)

// Path joins two namespaces until the process ends: then its devices vanish.
type Path struct {
	from       [2]*device
	directions [2]*direction
	statsMu    sync.Mutex // one reader of /proc/net/dev at a time
}

// Open makes the devices and starts to forward, without limits.
func Open(a, b string) (*Path, error) {
	deviceA, err := open(a)
	if err != nil {
		return nil, err
	}
	deviceB, err := open(b)
	if err != nil {
		return nil, err
	}
	p := &Path{
		from:       [2]*device{deviceA, deviceB},
		directions: [2]*direction{newDirection(0, deviceA.file, deviceB.file), newDirection(1, deviceB.file, deviceA.file)},
	}
	for _, d := range p.directions {
		go d.read()
		go d.release()
	}
	return p, nil
}

// Set takes a new configuration for both directions, at the same time.
func (p *Path) Set(config pathconfig.Config) {
	now := nowNs()
	for _, d := range p.directions {
		d.set(now, config)
	}
}

// Counters count the packets of one direction since the start of the process. Every packet that came in was forwarded,
// dropped for one of the reasons, or is in the path still.
type Counters struct {
	Forwarded    uint64 `json:"forwardedPackets"`
	Late         uint64 `json:"latePackets"` // left over 1 ms after they were due
	DroppedLoss  uint64 `json:"droppedLoss"`
	DroppedQueue uint64 `json:"droppedQueue"`
	// The next three are faults of the measurement, not of the path: any of them above 0 spoils a run. DroppedMemory:
	// more in the path than the emulator holds. DroppedWrite: the other namespace refused it. DroppedDevice: the
	// emulator was too slow to read it.
	DroppedMemory uint64 `json:"droppedMemory"`
	DroppedWrite  uint64 `json:"droppedWrite"`
	DroppedDevice uint64 `json:"droppedDevice"`
}

// Reading is what was counted in one direction, and what waits for its bottleneck now.
type Reading struct {
	Counters
	WaitingBytes int64 `json:"waitingBytes"`
}

// Stats are the readings of both directions.
type Stats struct {
	AToB Reading `json:"aToB"`
	BToA Reading `json:"bToA"`
}

// Stats reads both directions.
func (p *Path) Stats() Stats {
	p.statsMu.Lock()
	defer p.statsMu.Unlock()
	var both [2]Reading
	for i, d := range p.directions {
		d.mu.Lock()
		both[i] = Reading{d.counted, d.shaper.WaitingBytes(nowNs())}
		d.mu.Unlock()
		both[i].DroppedDevice = p.from[i].droppedOnTransmit()
	}
	return Stats{both[0], both[1]}
}
