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
	alice = netip.MustParsePrefix("192.0.2.1/32")
	bob   = netip.MustParsePrefix("192.0.2.2/32")
	carol = netip.MustParsePrefix("192.0.2.3/32")
)

func never() bool  { return false }
func always() bool { return true }

func mustAdmit(t *testing.T, d *Desk, client netip.Prefix) (release func()) {
	t.Helper()
	release, err := d.Admit(t.Context(), client, never)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestShareOfAClient(t *testing.T) {
	d := NewDesk(Limits{Total: 10, PerClient: 1}, time.Hour)
	release := mustAdmit(t, d, alice)
	admitted := make(chan error)
	for i := range withWaiting - 1 {
		go func() {
			release, err := d.Admit(t.Context(), alice, never)
			if err == nil {
				release()
			}
			admitted <- err
		}()
		untilWaiting(d, i+1)
	}
	if _, err := d.Admit(t.Context(), alice, never); !errors.Is(err, ErrClient) {
		t.Errorf("one more: %v", err)
	}
	mustAdmit(t, d, bob)() // its end gives alice nothing
	if _, waiting, _ := d.Counts(); waiting != withWaiting-1 {
		t.Errorf("%d wait", waiting)
	}
	release()
	for range withWaiting - 1 {
		if err := <-admitted; err != nil {
			t.Error(err)
		}
	}
	mustAdmit(t, d, alice)
}

// Whoever may, finds a reserved place while others hold or wait for all the rest, and gets no more than a share of them.
func TestReservedPlaces(t *testing.T) {
	d := NewDesk(Limits{Total: 1, PerClient: 1, Reserved: 8}, time.Millisecond)
	mustAdmit(t, d, alice)
	var releases []func()
	for range 2 {
		for _, client := range []netip.Prefix{alice, bob} {
			release, err := d.Admit(t.Context(), client, always)
			if err != nil {
				t.Fatal(err)
			}
			releases = append(releases, release)
		}
	}
	if _, err := d.Admit(t.Context(), alice, always); !errors.Is(err, ErrFull) {
		t.Errorf("a third reserved place of one client: %v", err)
	}
	if _, err := d.Admit(t.Context(), alice, never); !errors.Is(err, ErrFull) {
		t.Errorf("a request without a claim: %v", err)
	}
	if inFlight, waiting, refused := d.Counts(); inFlight != 5 || waiting != 0 || refused != 2 {
		t.Errorf("%d in flight, %d wait, %d refused", inFlight, waiting, refused)
	}
	for _, release := range releases {
		release()
	}
	if inFlight, _, _ := d.Counts(); inFlight != 1 || d.reserved.all != 0 || len(d.inFlight.clients) != 1 {
		t.Errorf("%d in flight, %d clients with reserved places, %d with others", inFlight, d.reserved.all, len(d.inFlight.clients))
	}
}

// All reserved places together are bounded too.
func TestReservedPlacesAreBounded(t *testing.T) {
	d := NewDesk(Limits{Total: 1, PerClient: 1, Reserved: 1}, time.Millisecond)
	mustAdmit(t, d, alice)
	if _, err := d.Admit(t.Context(), bob, always); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Admit(t.Context(), carol, always); !errors.Is(err, ErrFull) {
		t.Errorf("a second one: %v", err)
	}
}

func TestWaitsForAPlace(t *testing.T) {
	d := NewDesk(Limits{Total: 1, PerClient: 1}, time.Hour)
	release := mustAdmit(t, d, alice)
	admitted := make(chan error)
	go func() {
		_, err := d.Admit(t.Context(), bob, never)
		admitted <- err
	}()
	untilWaiting(d, 1)
	if _, err := d.Admit(t.Context(), carol, never); !errors.Is(err, ErrFull) {
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
	if _, err := d.Admit(t.Context(), bob, never); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.Wait = time.Hour
	if _, err := d.Admit(ctx, bob, never); !errors.Is(err, context.Canceled) {
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
		_, err := d.Admit(t.Context(), bob, never)
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
	now := map[netip.Prefix]int{}
	total := 0
	var all sync.WaitGroup
	for i := range 40 {
		client := netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(i % 5)}), 32)
		random := rand.New(rand.NewPCG(1, uint64(i)))
		all.Go(func() {
			for range 300 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(400))*time.Microsecond)
				release, err := d.Admit(ctx, client, never)
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
	if inFlight, waiting, _ := d.Counts(); inFlight != 0 || waiting != 0 || len(d.inFlight.clients)+len(d.waiting.clients) != 0 {
		t.Errorf("%d in flight, %d wait, %d clients", inFlight, waiting, len(d.inFlight.clients))
	}
}

// Who waits for others of the same client waits longer than who waits for others' requests.
func TestPatience(t *testing.T) {
	d := NewDesk(Limits{Total: 2, PerClient: 1}, time.Millisecond)
	mustAdmit(t, d, alice)
	if p, err := d.enter(alice); err != nil || p.patience != ownPatience*d.Wait {
		t.Fatalf("waits for %v, %v", p.patience, err)
	}
	mustAdmit(t, d, bob)
	if p, err := d.enter(carol); err != nil || p.patience != d.Wait {
		t.Errorf("waits for %v, %v", p.patience, err)
	}
}

// Clients with websockets hold no places that others need.
func TestWebsocketsHaveTheirOwnShare(t *testing.T) {
	attackers := func(i int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(100 + i)}), 32)
	}
	d := NewDesk(Limits{Total: 2500, PerClient: 156}, time.Millisecond)
	var releases []func()
	for i := range 20 {
		for range 625 {
			if release, err := d.AdmitLong(attackers(i)); err == nil {
				releases = append(releases, release)
			} else if !errors.Is(err, ErrLong) {
				t.Fatal(err)
			}
		}
	}
	if len(releases) != 1250 || d.long.clients[attackers(0)] != 156 {
		t.Errorf("%d websockets, %d of one client", len(releases), d.long.clients[attackers(0)])
	}
	for range 100 {
		mustAdmit(t, d, alice)
	}
	for _, release := range releases {
		release()
	}
	if n, _, _ := d.Counts(); n != 100 || len(d.long.clients) != 0 {
		t.Errorf("%d in flight", n)
	}
}

// An IPv6 /48 is a network: its /64s together have twice what one has.
func TestNetwork(t *testing.T) {
	of := func(i int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, byte(i)}), 64)
	}
	d := NewDesk(Limits{Total: 100, PerClient: 4, Reserved: 16}, 0)
	for i := range 64 {
		_, _ = d.Admit(t.Context(), of(i), always)
		_, _ = d.AdmitLong(of(i))
	}
	if d.inFlight.all != 8 || d.long.all != clientsOfNetwork*fewLong || d.reserved.all != 8 {
		t.Errorf("%d requests, %d long, %d reserved", d.inFlight.all, d.long.all, d.reserved.all)
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
