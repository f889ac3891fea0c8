package upstream

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/errorlog"
)

func TestRequestLimits(t *testing.T) {
	cases := []struct {
		maxRequests, maxClient, descriptors int
		want                                admission.Limits
	}{
		{0, 0, 0, admission.Limits{Total: 128, PerClient: 100, Reserved: 16}},
		{0, 0, 1024, admission.Limits{Total: 128, PerClient: 100, Reserved: 16}},
		{0, 0, 65536, admission.Limits{Total: 4096, PerClient: 256, Reserved: 16}},
		{0, 0, 20_000, admission.Limits{Total: 2500, PerClient: 156, Reserved: 16}},
		{0, 0, 16, admission.Limits{Total: 2, PerClient: 2, Reserved: 16}},
		{1000, 0, 1024, admission.Limits{Total: 1000, PerClient: 100, Reserved: 16}},
		{1000, 7, 0, admission.Limits{Total: 1000, PerClient: 7, Reserved: 16}},
		{10, 70, 0, admission.Limits{Total: 10, PerClient: 10, Reserved: 16}},
	}
	for _, tc := range cases {
		if got := limitsFor(RequestLimits{Total: tc.maxRequests, PerClient: tc.maxClient}, tc.descriptors); got != tc.want {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
}

// What memory there is bounds the total too, unless the command line gives it.
func TestMostRequests(t *testing.T) {
	for _, tc := range []struct{ maxRequests, most, want int }{{0, 700, 700}, {0, 9000, 4096}, {1000, 700, 1000}} {
		if got := limitsFor(RequestLimits{Total: tc.maxRequests, Most: tc.most}, 65536).Total; got != tc.want {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}

// The bounds follow from what the process behind the Unix socket may open.
func TestDescriptorsOfTheUpstream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "upstream")
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if pid := peerProcess(c); pid != os.Getpid() {
		t.Errorf("the process is %d, want %d", pid, os.Getpid())
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if n := openFilesLimit(os.Getpid()); uint64(n) != limit.Cur {
		t.Errorf("the limit is %d, want %d", n, limit.Cur)
	}
	said := &edgetest.Buffer{}
	bounds := NewBounds(RequestLimits{}, errorlog.New(said))
	bounds.Look(Target{"unix", path})
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	// The folder that was read is one of them, and was open only then.
	if open, most := bounds.Descriptors(); open < len(entries)-2 || open > len(entries)+2 || most != int(limit.Cur) {
		t.Errorf("%d of %d descriptors, want about %d of %d", open, most, len(entries), limit.Cur)
	}
	if got, want := bounds.Desk().Limits(), limitsFor(RequestLimits{}, int(limit.Cur)); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
