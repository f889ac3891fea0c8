package operator

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"adaptive-h3/infra/edge/internal/admission"
	"adaptive-h3/infra/edge/internal/certificate"
)

// A warning is said, and makes nothing unwell by itself.
func TestWarnings(t *testing.T) {
	certificates, err := certificate.Open(certificate.Options{StateDir: t.TempDir()}, time.Now(), func(problem string) { t.Error(problem) })
	if err != nil {
		t.Fatal(err)
	}
	s := &Subject{
		Certificates: certificates,
		Descriptors:  func() (open, limit int) { return 10, 1024 },
		Desk:         admission.NewDesk(admission.Limits{Total: 1, PerClient: 1}, 0),
		Places: []Place{{
			Address: netip.MustParseAddrPort("[::]:443"), ReachedAt: netip.MustParseAddrPort("127.0.0.1:1"),
			Serves: new(atomic.Bool), Warning: func() string { return "too small" },
			TCPWarning: "cubic",
		}},
	}
	now := s.look()
	if want := []string{"TCP on [::]:443: cubic", "HTTP/3 on [::]:443: too small"}; !slices.Equal(now.Warnings, want) {
		t.Errorf("%q, want %q", now.Warnings, want)
	}
	if len(now.Problems) != 2 { // nobody serves there, over TCP or QUIC
		t.Errorf("%q", now.Problems)
	}
}

// The worker's process is not well while few descriptors are left.
func TestDescriptorsOfTheWorker(t *testing.T) {
	certificates, err := certificate.Open(certificate.Options{StateDir: t.TempDir()}, time.Now(), func(problem string) { t.Error(problem) })
	if err != nil {
		t.Fatal(err)
	}
	for open, want := range map[int][]string{700: {}, 800: {"the worker's process has 800 of 1024 descriptors open"}} {
		s := &Subject{
			Certificates: certificates, Desk: admission.NewDesk(admission.Limits{}, 0),
			Descriptors: func() (int, int) { return open, 1024 },
		}
		if now := s.look(); !slices.Equal(now.Problems, want) || now.Worker.Descriptors != open || now.Worker.DescriptorsLimit != 1024 {
			t.Errorf("%d: %q, %+v", open, now.Problems, now.Worker)
		}
	}
}
