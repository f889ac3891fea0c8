package netem

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"adaptive-h3/bench/netpath/pathconfig"
	"adaptive-h3/bench/netpath/report"
	"adaptive-h3/bench/netpath/shaper"
	"adaptive-h3/bench/netpath/tunpath"
)

// Path is a router between two namespaces. netem sits on the router's devices and not on the sender's own, where TCP
// would see its packets still queued (TCP small queues) and hold back.
type Path struct {
	router string
	mtu    int
	mu     sync.Mutex
	set    uint64 // counts configurations: a profile of an older one ends
}

const (
	towardsA = "to-a"
	towardsB = "to-b"
)

// Available tries: whether netem is there shows only when it is used.
func Available() bool {
	probe := fmt.Sprintf("netpath-probe-%d", time.Now().UnixNano())
	if run("ip", "netns", "add", probe) != nil {
		return false
	}
	defer func() { _ = run("ip", "netns", "delete", probe) }()
	return run("tc", "-n", probe, "qdisc", "add", "dev", "lo", "root", "netem", "limit", "10") == nil
}

// Open makes the router. Its name follows from the two ends: so the next start finds what a killed run left behind.
func Open(a, b tunpath.End, mtu int, config pathconfig.Config) (*Path, error) {
	if err := refuse(config); err != nil {
		return nil, err
	}
	name := sha256.Sum256([]byte(a.Namespace + "\x00" + a.Device + "\x00" + b.Namespace + "\x00" + b.Device))
	p := &Path{router: fmt.Sprintf("netpath-router-%x", name[:4]), mtu: mtu}
	_ = p.Close()
	if err := run("ip", "netns", "add", p.router); err != nil {
		return nil, err
	}
	err := p.connect(a, towardsA)
	if err == nil {
		err = p.connect(b, towardsB)
	}
	if err == nil {
		err = p.bridge()
	}
	if err == nil {
		err = p.Set(config)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// connect makes a pair of devices, one in the router and one at the end.
func (p *Path) connect(end tunpath.End, device string) error {
	mtu := strconv.Itoa(p.mtu)
	pair := []string{"type", "veth", "peer", "name", end.Device, "mtu", mtu, "netns", end.Namespace}
	return errors.Join(
		run(append([]string{"ip", "-n", p.router, "link", "add", device, "mtu", mtu}, pair...)...),
		offloadsOff(end.Namespace, end.Device),
		offloadsOff(p.router, device),
		run("ip", "-n", end.Namespace, "link", "set", end.Device, "up"),
		run("ip", "-n", p.router, "link", "set", device, "up"),
	)
}

// bridge joins the two inside the router: without addresses of its own the path looks like one wire to both ends, as
// that of the TUN engine does.
func (p *Path) bridge() error {
	return errors.Join(
		run("ip", "-n", p.router, "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0"),
		run("ip", "-n", p.router, "link", "set", towardsA, "master", "bridge"),
		run("ip", "-n", p.router, "link", "set", towardsB, "master", "bridge"),
		run("ip", "-n", p.router, "link", "set", "bridge", "up"),
	)
}

// Set replaces netem's parameters, then those of the profile, each in its time.
func (p *Path) Set(config pathconfig.Config) error {
	if err := refuse(config); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set++
	if err := p.apply(config.Seed, config.AToB, config.BToA); err != nil {
		return err
	}
	go p.follow(p.set, time.Now(), config)
	return nil
}

func (p *Path) follow(set uint64, began time.Time, config pathconfig.Config) {
	timeline := pathconfig.NewTimeline(config)
	for step, ok := timeline.Peek(); ok; step, ok = timeline.Peek() {
		time.Sleep(time.Until(began.Add(time.Duration(step.AtNs))))
		p.mu.Lock()
		current := p.set == set
		if current {
			_ = p.apply(config.Seed, step.AToB, step.BToA)
		}
		p.mu.Unlock()
		if !current {
			return
		}
		timeline.Advance()
	}
}

func (p *Path) apply(seed uint64, aToB, bToA shaper.Settings) error {
	for i, d := range []struct {
		device   string
		settings shaper.Settings
	}{{towardsB, aToB}, {towardsA, bToA}} {
		args := arguments(d.settings, seed+uint64(i), p.mtu)
		tc := []string{"tc", "-n", p.router, "qdisc", "replace", "dev", d.device, "root"}
		err := run(append(tc, args...)...)
		if err != nil && args[len(args)-2] == "seed" { // older than Linux 6.6
			err = run(append(tc, args[:len(args)-2]...)...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Stats asks tc.
func (p *Path) Stats() (report.Stats, error) {
	var stats report.Stats
	for device, direction := range map[string]*report.Direction{towardsB: &stats.AToB, towardsA: &stats.BToA} {
		out, err := exec.Command("tc", "-n", p.router, "-s", "-j", "qdisc", "show", "dev", device).Output()
		if err != nil {
			return stats, fmt.Errorf("cannot ask tc: %w", err)
		}
		if *direction, err = parseStats(out); err != nil {
			return stats, err
		}
	}
	return stats, nil
}

// Close deletes the router and, before it, its devices: a namespace's own end with it some time later, and their other
// halves would still be there at the next start.
func (p *Path) Close() error {
	for _, device := range []string{towardsA, towardsB} {
		_ = run("ip", "-n", p.router, "link", "delete", device)
	}
	return run("ip", "netns", "delete", p.router)
}

func run(command ...string) error {
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %s: %w", strings.Join(command, " "), strings.TrimSpace(string(out)), err)
	}
	return nil
}
