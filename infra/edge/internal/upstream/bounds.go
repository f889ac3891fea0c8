package upstream

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/errorlog"
)

const (
	// workerd has up to four descriptors open for each request in flight (measured), and others for its store and for
	// connections at rest: an eighth of its limit leaves it half.
	descriptorsPerRequest = 8
	maxRequestsKnown      = 4096
	// An eighth of 1,024, which is the soft limit that Linux and systemd give by default.
	maxRequestsUnknown = 128
	// One client may have this part of the requests in flight, and at least as many as a page may ask for at once on one connection.
	clientShare         = 16
	minRequestsOfClient = 100
	// A few visitors can fill a total below this.
	fewRequests = 512
	// For calls of the API, so that the kill switch answers while everybody else's requests are refused. One operator's tools have
	// a few at a time.
	reservedRequests = 16
	// Long enough for a burst to pass, and shorter than a visitor's patience.
	admissionWait = time.Second
)

// RequestLimits are the bounds that the command line gives.
type RequestLimits struct {
	Total     int // requests in flight; 0: as many as the upstream's process can hold
	PerClient int // of them, those of one client; 0: a share of the total
	// Most bounds the total that follows from the upstream's process, as memory does; 0: nothing does.
	Most int
}

// Bounds keeps a desk's limits at what the upstream's process can hold.
type Bounds struct {
	desk *admission.Desk
	want RequestLimits
	log  *errorlog.Log

	mu  sync.Mutex
	pid int // process id of the upstream, as last seen
}

// NewBounds makes a desk within the limits that hold while nothing is known about the upstream's process.
func NewBounds(want RequestLimits, log *errorlog.Log) *Bounds {
	return &Bounds{desk: admission.NewDesk(limitsFor(want, 0), admissionWait), want: want, log: log}
}

// Desk returns the desk that admits requests within the bounds.
func (b *Bounds) Desk() *admission.Desk { return b.desk }

// limitsFor returns what the command line wants. Where it says nothing the limits follow from the number of descriptors that
// the upstream's process may open, which is 0 where nobody knows it.
func limitsFor(want RequestLimits, descriptors int) admission.Limits {
	total := maxRequestsUnknown
	if descriptors > 0 {
		total = max(1, min(descriptors/descriptorsPerRequest, maxRequestsKnown))
	}
	if want.Most > 0 {
		total = min(total, want.Most)
	}
	if want.Total > 0 {
		total = want.Total
	}
	perClient := max(total/clientShare, minRequestsOfClient)
	if want.PerClient > 0 {
		perClient = want.PerClient
	}
	return admission.Limits{Total: total, PerClient: min(perClient, total), Reserved: reservedRequests}
}

// Descriptors returns how many descriptors the upstream's process has open, and how many it may have; 0 where nobody can tell. The
// size of the folder is their number (Linux 6.2), also for a user who may not look into it.
func (b *Bounds) Descriptors() (open, limit int) {
	b.mu.Lock()
	pid := b.pid
	b.mu.Unlock()
	if folder, err := os.Stat(fmt.Sprintf("/proc/%d/fd", pid)); pid > 0 && err == nil {
		open = int(folder.Size())
	}
	return open, openFilesLimit(pid)
}

// Look connects to t once, so that the bounds are known before the first request.
func (b *Bounds) Look(t Target) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c, err := t.Dial(ctx, "", ""); err == nil {
		b.Connected(c)
		c.Close()
	}
}

// Connected sees each new connection to the upstream: its process may be another one than before.
func (b *Bounds) Connected(c net.Conn) {
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
	limits := limitsFor(b.want, descriptors)
	b.desk.SetLimits(limits)
	if descriptors > 0 && b.want.Total == 0 && limits.Total < fewRequests && limits.Total != b.want.Most {
		b.log.Report("upstream", fmt.Sprintf("the process behind may open %d descriptors, so that at most %d requests pass at a time: raise its limit (LimitNOFILE=65536)",
			descriptors, limits.Total))
	}
}
