package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"adaptive-h3/infra/edge/internal/admission"
)

const (
	// workerd has up to four descriptors open for each request in flight (measured), and others for its store and for
	// connections at rest: an eighth of its limit leaves it half.
	descriptorsPerRequest = 8
	maxRequestsKnown      = 4096
	// An eighth of 1,024, the soft limit that Linux and systemd give a program that asks for nothing.
	maxRequestsUnknown = 128
	// As many as a page may ask for at once on one connection.
	minRequestsOfClient = 100
	// Fewer in all than this, and a few visitors fill it.
	fewRequests = 512
	// Long enough for a burst to pass, and shorter than anybody takes a page for dead.
	admissionWait = time.Second
)

// requestBounds keeps the desk's limits at what the upstream's process can hold.
type requestBounds struct {
	desk *admission.Desk
	opts options
	log  *reporter

	mu  sync.Mutex
	pid int // of the upstream's process, as it was last seen
}

func newRequestBounds(opts options, log *reporter) *requestBounds {
	return &requestBounds{desk: admission.NewDesk(requestLimits(opts, 0), admissionWait), opts: opts, log: log}
}

// requestLimits are what the flags say, and otherwise follow from the descriptors that the upstream's process may open; 0
// where that is not known.
func requestLimits(opts options, descriptors int) admission.Limits {
	total := maxRequestsUnknown
	if descriptors > 0 {
		total = max(1, min(descriptors/descriptorsPerRequest, maxRequestsKnown))
	}
	if opts.maxRequests > 0 {
		total = opts.maxRequests
	}
	perClient := max(total/4, minRequestsOfClient)
	if opts.maxClient > 0 {
		perClient = opts.maxClient
	}
	return admission.Limits{Total: total, PerClient: min(perClient, total)}
}

// look connects once, so that the bounds are known before the first request.
func (b *requestBounds) look(t target) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c, err := t.dial(ctx); err == nil {
		b.connected(c)
		c.Close()
	}
}

// connected sees each new connection to the upstream: its process may be another one than before.
func (b *requestBounds) connected(c net.Conn) {
	pid := peerProcess(c)
	if pid == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if pid == b.pid {
		return
	}
	b.pid = pid
	descriptors := openFilesLimit(pid)
	limits := requestLimits(b.opts, descriptors)
	b.desk.SetLimits(limits)
	if descriptors > 0 && b.opts.maxRequests == 0 && limits.Total < fewRequests {
		b.log.report("upstream", fmt.Sprintf("the process behind may open %d descriptors, so that at most %d requests pass at a time: raise its limit (LimitNOFILE=65536)",
			descriptors, limits.Total))
	}
}

// peerProcess is the process that listens on the Unix socket at the other end; 0 for any other connection.
func peerProcess(c net.Conn) int {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// openFilesLimit reads a process's soft limit on descriptors (proc(5), /proc/pid/limits); 0 where that may not be read.
func openFilesLimit(pid int) int {
	file, err := os.Open(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "Max open files")
		if !ok {
			continue
		}
		if fields := strings.Fields(rest); len(fields) > 0 {
			n, _ := strconv.Atoi(fields[0]) // "unlimited" is as good as not known
			return n
		}
	}
	return 0
}
