// Package tunpath carries packets between two namespaces through two TUN devices and two shapers.
package tunpath

import (
	"sync"

	"adaptive-h3/bench/instrument/netpath/pathconfig"
	"adaptive-h3/bench/instrument/netpath/report"
)

// Path joins two namespaces until the process ends.
type Path struct {
	a, b       *device
	aToB, bToA *direction
	statsMu    sync.Mutex // one reader of /proc/net/dev at a time
}

// End is where one side of the path is.
type End struct {
	Namespace string
	Device    string
}

// Open makes the devices and starts to forward.
func Open(a, b End, mtu int, config pathconfig.Config) (*Path, error) {
	deviceA, err := open(a.Namespace, a.Device, mtu)
	if err != nil {
		return nil, err
	}
	deviceB, err := open(b.Namespace, b.Device, mtu)
	if err != nil {
		return nil, err
	}
	p := &Path{
		a: deviceA, b: deviceB,
		aToB: newDirection(0, deviceA.file, deviceB.file, mtu),
		bToA: newDirection(1, deviceB.file, deviceA.file, mtu),
	}
	if err := p.Set(config); err != nil {
		return nil, err
	}
	for _, d := range []*direction{p.aToB, p.bToA} {
		go d.read()
		go d.release()
	}
	return p, nil
}

// Set takes a new configuration for both directions, at the same time.
func (p *Path) Set(config pathconfig.Config) error {
	now := nowNs()
	p.aToB.set(now, config)
	p.bToA.set(now, config)
	return nil
}

// Stats counts both directions.
func (p *Path) Stats() (report.Stats, error) {
	p.statsMu.Lock()
	defer p.statsMu.Unlock()
	return report.Stats{AToB: p.aToB.report(p.a), BToA: p.bToA.report(p.b)}, nil
}

// Close has nothing to do: the devices vanish with the process.
func (p *Path) Close() error { return nil }

func (d *direction) report(from *device) report.Direction {
	d.mu.Lock()
	r, f, waiting := d.received, d.forwarded, d.shaper.WaitingBytes(nowNs())
	d.mu.Unlock()
	lateMaxMs := float64(f.lateness.maxNs) / 1e6
	dropped := from.droppedOnTransmit()
	return report.Direction{
		ReceivedPackets: r.packets, ReceivedBytes: r.bytes,
		ForwardedPackets: f.packets, ForwardedBytes: f.bytes,
		DroppedLoss: r.droppedLoss, DroppedBurst: r.droppedBurst, DroppedQueue: r.droppedQueue,
		DroppedMemory: &r.droppedMemory, DroppedWrite: &f.droppedWrite, DroppedDevice: &dropped,
		QueuedBytes: waiting, LatePackets: &f.lateness.late, LateMaxMs: &lateMaxMs,
		LateHistogramMs: &report.Histogram{Bounds: LatenessBoundsMs[:], Counts: f.lateness.counts[:]},
	}
}
