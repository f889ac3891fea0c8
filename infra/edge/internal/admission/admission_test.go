package admission

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"
)

var (
	alice = netip.MustParseAddr("192.0.2.1")
	bob   = netip.MustParseAddr("192.0.2.2")
)

func mustAdmit(t *testing.T, d *Desk, client netip.Addr) (release func()) {
	t.Helper()
	release, err := d.Admit(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestShareOfAClient(t *testing.T) {
	d := NewDesk(Limits{Total: 10, PerClient: 2}, time.Hour)
	first := mustAdmit(t, d, alice)
	mustAdmit(t, d, alice)
	if _, err := d.Admit(t.Context(), alice); !errors.Is(err, ErrClient) {
		t.Errorf("a third: %v", err)
	}
	mustAdmit(t, d, bob)
	first()
	mustAdmit(t, d, alice)
}

// A /64 is one client, however many addresses it makes of it.
func TestClientOfIPv6(t *testing.T) {
	d := NewDesk(Limits{Total: 10, PerClient: 1}, time.Hour)
	mustAdmit(t, d, netip.MustParseAddr("2001:db8::1"))
	if _, err := d.Admit(t.Context(), netip.MustParseAddr("2001:db8::ffff:2")); !errors.Is(err, ErrClient) {
		t.Errorf("the same /64: %v", err)
	}
	mustAdmit(t, d, netip.MustParseAddr("2001:db8:0:1::1"))
}

func TestWaitsForAPlace(t *testing.T) {
	d := NewDesk(Limits{Total: 1, PerClient: 1}, time.Hour)
	release := mustAdmit(t, d, alice)
	admitted := make(chan error)
	go func() {
		_, err := d.Admit(t.Context(), bob)
		admitted <- err
	}()
	untilWaiting(d, 1)
	if _, err := d.Admit(t.Context(), netip.MustParseAddr("192.0.2.3")); !errors.Is(err, ErrFull) {
		t.Errorf("no more wait than may be in flight: %v", err)
	}
	release()
	if err := <-admitted; err != nil {
		t.Error(err)
	}
	if inFlight, waiting, refused := d.Counts(); inFlight != 1 || waiting != 0 || refused != 1 {
		t.Errorf("%d in flight, %d wait, %d refused", inFlight, waiting, refused)
	}
}

func TestWaitIsBounded(t *testing.T) {
	d := NewDesk(Limits{Total: 1, PerClient: 1}, time.Millisecond)
	mustAdmit(t, d, alice)
	if _, err := d.Admit(t.Context(), bob); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.Wait = time.Hour
	if _, err := d.Admit(ctx, bob); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if inFlight, waiting, _ := d.Counts(); inFlight != 1 || waiting != 0 {
		t.Errorf("%d in flight, %d wait", inFlight, waiting)
	}
}

func TestHigherLimitsServeWhoWaits(t *testing.T) {
	d := NewDesk(Limits{Total: 1, PerClient: 1}, time.Hour)
	mustAdmit(t, d, alice)
	admitted := make(chan error)
	go func() {
		_, err := d.Admit(t.Context(), bob)
		admitted <- err
	}()
	untilWaiting(d, 1)
	d.SetLimits(Limits{Total: 2, PerClient: 1})
	if err := <-admitted; err != nil {
		t.Error(err)
	}
}

// Whatever comes and goes, the bounds hold at every moment, and at the end nothing is left.
func TestBoundsHold(t *testing.T) {
	limits := Limits{Total: 7, PerClient: 3}
	d := NewDesk(limits, 200*time.Microsecond)
	var mu sync.Mutex
	now := map[netip.Addr]int{}
	total := 0
	var all sync.WaitGroup
	for i := range 40 {
		client := netip.AddrFrom4([4]byte{192, 0, 2, byte(i % 5)})
		random := rand.New(rand.NewPCG(1, uint64(i)))
		all.Go(func() {
			for range 300 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(400))*time.Microsecond)
				release, err := d.Admit(ctx, client)
				cancel()
				if err != nil {
					continue
				}
				mu.Lock()
				now[client]++
				total++
				if now[client] > limits.PerClient || total > limits.Total {
					t.Errorf("%d of a client, %d in all", now[client], total)
				}
				mu.Unlock()
				runtime.Gosched()
				mu.Lock()
				now[client]--
				total--
				mu.Unlock()
				release()
			}
		})
	}
	all.Wait()
	if inFlight, waiting, _ := d.Counts(); inFlight != 0 || waiting != 0 || len(d.clients) != 0 {
		t.Errorf("%d in flight, %d wait, %d clients", inFlight, waiting, len(d.clients))
	}
}

func untilWaiting(d *Desk, n int) {
	for {
		if _, waiting, _ := d.Counts(); waiting == n {
			return
		}
		runtime.Gosched()
	}
}
