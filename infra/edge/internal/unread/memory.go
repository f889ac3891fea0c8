package unread

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

const (
	// workerd reads up to 2.7 MB of a response ahead of its client (measured: 1,000 responses that nobody read took 2,600 MB of
	// its memory), and the edge and the kernel hold 150 KB.
	bytesPerResponse = 3 << 20
	// The share of the machine's memory that such responses may take.
	memoryShare = 8
	leastTotal  = 64
	// A browser has at most 100 on a connection.
	perClient = 128
	// Requests in flight, in multiples of the responses that may wait. If all of their clients read slowly, they take half of the memory.
	requests = 4
)

// DefaultTotal returns how many responses may wait at a time on a machine with so many bytes of memory; 0 means that nobody
// knows how many these are.
func DefaultTotal(memory uint64) int {
	return int(max(memory/memoryShare/bytesPerResponse, leastTotal))
}

// DefaultPerClient returns how many of them may be of one client.
func DefaultPerClient(total int) int { return min(total, perClient) }

// Requests returns how many requests may be in flight where so many responses may wait unread: each may turn out to be one, and
// clients who read are not ended.
func Requests(total int) int { return requests * total }

// Memory returns how much memory this program and its neighbours may take: the machine's, or that of the container.
func Memory() uint64 {
	var memory uint64
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
