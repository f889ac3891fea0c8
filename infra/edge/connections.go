package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

const (
	// A connection at rest takes 32 kB over HTTP/1.1, 45 over HTTP/2 and 87 over QUIC (resident memory; bench/results/resting).
	bytesPerConnection = 100_000
	// The share of the memory that connections may take.
	connectionMemory = 16
	// The shares of this program's descriptors that visitors' connections, and requests to the server behind, may take. What is left is
	// for its listeners, for connections to the server that are at rest, and for health and metrics.
	connectionDescriptors, requestDescriptors = 2, 4
	fewConnections                            = 64

	// workerd reads up to 2.7 MB of a response ahead of its client (measured: 1,000 responses that nobody read took 2,600 MB of
	// its memory), and the edge and the kernel hold 150 KB. Requests in flight take at most this share of the memory.
	bytesPerResponse, requestMemory = 3 << 20, 2
	fewRequests                     = 256
)

// mostRequests returns how many requests may be in flight.
func mostRequests(descriptors int, memory uint64) int {
	return min(max(int(memory/requestMemory/bytesPerResponse), fewRequests), max(descriptors/requestDescriptors, 1))
}

// mostConnections returns how many visitors' connections may be open; memory is 0 where nobody knows it.
func mostConnections(descriptors int, memory uint64) int {
	most := descriptors / connectionDescriptors
	if memory > 0 {
		most = min(most, int(memory/connectionMemory/bytesPerConnection))
	}
	return max(most, min(fewConnections, descriptors/connectionDescriptors))
}

// ownDescriptors returns how many descriptors this program may open.
func ownDescriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 1024
	}
	return int(min(limit.Cur, 1<<20))
}

// memorySize returns how many bytes this program and its neighbours may take: the machine's memory, or the container's; 0: nobody knows.
func memorySize() (memory uint64) {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) == nil {
		memory = uint64(info.Totalram) * uint64(info.Unit)
	}
	// In a container the root of the control groups is the container's own (cgroups(7)). "max" is no number.
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && (memory == 0 || limit < memory) {
			memory = limit
		}
	}
	return memory
}
