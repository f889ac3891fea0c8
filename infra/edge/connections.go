package main

import "syscall"

const (
	// A connection at rest takes 32 kB over HTTP/1.1, 45 over HTTP/2 and 87 over QUIC (resident memory; bench/results/resting).
	bytesPerConnection = 100_000
	// The share of the memory that connections may take.
	connectionMemory = 16
	// The shares of this program's descriptors that visitors' connections, and requests to the server behind, may take. What is left is
	// for its listeners, for connections to the server that are at rest, and for health and metrics.
	connectionDescriptors, requestDescriptors = 2, 4
	fewConnections                            = 64
)

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
