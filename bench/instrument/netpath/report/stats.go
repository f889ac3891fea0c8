// Package report is the shape of the statistics, the same for every engine.
package report

// Stats counts both directions since the start of the process.
type Stats struct {
	AToB Direction `json:"aToB"`
	BToA Direction `json:"bToA"`
}

// Direction counts one. Every packet that was received was forwarded, dropped for one of the reasons, or is in the
// path still. null is what an engine cannot know.
type Direction struct {
	ReceivedPackets  uint64 `json:"receivedPackets"`
	ReceivedBytes    uint64 `json:"receivedBytes"`
	ForwardedPackets uint64 `json:"forwardedPackets"`
	ForwardedBytes   uint64 `json:"forwardedBytes"`
	DroppedLoss      uint64 `json:"droppedLoss"`
	DroppedBurst     uint64 `json:"droppedBurst"`
	DroppedQueue     uint64 `json:"droppedQueue"`
	// The next three are faults of the measurement, not of the path: any of them above 0 spoils a run. DroppedMemory:
	// more in the path than the emulator holds. DroppedWrite: the other namespace refused it. DroppedDevice: the
	// emulator was too slow to read it (not in ReceivedPackets).
	DroppedMemory *uint64 `json:"droppedMemory"`
	DroppedWrite  *uint64 `json:"droppedWrite"`
	DroppedDevice *uint64 `json:"droppedDevice"`
	// QueuedBytes waits for the bottleneck now.
	QueuedBytes int64 `json:"queuedBytes"`
	// LatePackets left over 1 ms after they were due.
	LatePackets *uint64 `json:"latePackets"`
	// LateMaxMs is the most since the last configuration.
	LateMaxMs       *float64   `json:"lateMaxMs"`
	LateHistogramMs *Histogram `json:"lateHistogramMs"`
}

// Histogram has one more count than bounds: what is above the last.
type Histogram struct {
	Bounds []float64 `json:"bounds"`
	Counts []uint64  `json:"counts"`
}
