// pathprobe measures a path between two network namespaces from outside whatever emulates it.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

type options struct {
	from, to   string
	address    netip.Addr
	mode       string
	packets    int
	size       int
	seconds    float64
	rateMbps   float64
	delayMs    float64
	loadMbps   float64
	loadSize   int
	gapMs      float64
	skipMs     float64
	quietMs    float64
	confidence float64
	family     int
	dispersion float64
	seed       uint64
}

func main() {
	o, err := parseFlags(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	result, err := o.measure()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func parseFlags(args []string) (o options, err error) {
	flags := flag.NewFlagSet("pathprobe", flag.ContinueOnError)
	flags.StringVar(&o.from, "from", "", "network namespace of the sender")
	flags.StringVar(&o.to, "to", "", "network namespace of the receiver")
	flags.TextVar(&o.address, "to-address", netip.Addr{}, "address of the receiver")
	flags.StringVar(&o.mode, "mode", "", "delay, rate or loss")
	flags.IntVar(&o.packets, "n", 1000, "delay, loss: packets that are measured")
	flags.IntVar(&o.size, "size", 0, "IP bytes of a measured packet (delay 64, rate 1500, loss 200)")
	flags.Float64Var(&o.seconds, "seconds", 1, "rate: time to send")
	flags.Float64Var(&o.rateMbps, "rate-mbps", 0, "rate of the path, 0: unlimited; rate mode sends 1.2 times it, and loss mode 0.5")
	flags.Float64Var(&o.delayMs, "delay-ms", 0, "delay: that of the path")
	flags.Float64Var(&o.loadMbps, "load-mbps", 0, "delay: load beside the probes")
	flags.IntVar(&o.loadSize, "load-size", 1500, "delay: IP bytes of a packet of the load")
	flags.Float64Var(&o.gapMs, "gap-ms", 1, "delay: mean time between probes; loss: without a rate, time between packets")
	flags.Float64Var(&o.skipMs, "skip-ms", 200, "rate: time at the start that is not measured, beside the delay")
	flags.Float64Var(&o.quietMs, "quiet-ms", 300, "give up on packets after this time without any")
	flags.Float64Var(&o.confidence, "confidence", 0.95, "loss: of the interval")
	flags.IntVar(&o.family, "family", 1, "loss: number of intervals of which all shall hold at that confidence (Bonferroni)")
	flags.Float64Var(&o.dispersion, "dispersion", 1, "loss: by how much bursts make the variance larger")
	flags.Uint64Var(&o.seed, "seed", 1, "delay: of the times of the probes")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.size == 0 {
		o.size = map[string]int{"delay": 64, "rate": 1500, "loss": 200}[o.mode]
	}
	return o, o.check()
}

func (o options) check() error {
	smallest := headerBytes(o.address) + payloadBytes
	for _, c := range []struct {
		bad     bool
		message string
	}{
		{o.from == "" || o.to == "" || !o.address.IsValid(), "-from, -to and -to-address are needed"},
		{o.mode != "delay" && o.mode != "rate" && o.mode != "loss", "-mode must be delay, rate or loss"},
		{o.mode == "rate" && o.rateMbps <= 0, "-mode rate needs -rate-mbps"},
		{o.packets < 1 || o.seconds <= 0 || o.gapMs <= 0 || o.family < 1, "-n, -seconds, -gap-ms and -family must be above 0"},
		{o.rateMbps < 0 || o.loadMbps < 0 || o.delayMs < 0 || o.skipMs < 0 || o.quietMs < 0, "nothing may be negative"},
		{o.confidence <= 0 || o.confidence >= 1 || o.dispersion < 1, "-confidence must be between 0 and 1, -dispersion at least 1"},
		{min(o.size, o.loadSize) < smallest || max(o.size, o.loadSize) > maxPacket, fmt.Sprintf("a packet has from %d to %d bytes", smallest, maxPacket)},
	} {
		if c.bad {
			return errors.New(c.message)
		}
	}
	return nil
}

func (o options) plan() []planned {
	switch o.mode {
	case "rate":
		gap := gapNs(o.size, o.rateMbps*1.2)
		return evenly(max(2, int(o.seconds*1e9/gap)), gap, o.size, true)
	case "loss":
		gap := o.gapMs * 1e6
		if o.rateMbps > 0 {
			gap = gapNs(o.size, o.rateMbps*0.5)
		}
		return evenly(o.packets, gap, o.size, true)
	}
	probes := poisson(o.packets, o.gapMs*1e6, o.size, o.seed)
	if o.loadMbps == 0 {
		return probes
	}
	gap := gapNs(o.loadSize, o.loadMbps)
	span := float64(probes[len(probes)-1].dueNs)
	return merge(evenly(int(span/gap), gap, o.loadSize, false), probes)
}

func (o options) measure() (any, error) {
	receiver, port, err := openReceiver(o.to, o.address)
	if err != nil {
		return nil, err
	}
	defer unix.Close(receiver)
	sender, err := openSender(o.from, o.address, port)
	if err != nil {
		return nil, err
	}
	defer unix.Close(sender)
	s := &sample{plan: o.plan()}
	s.sentNs, s.receivedNs = make([]int64, len(s.plan)), make([]int64, len(s.plan))
	run := uint32(time.Now().UnixNano())
	var ended atomic.Bool
	received := make(chan error, 1)
	go func() { received <- receive(receiver, run, s, &ended, int64((o.quietMs+o.delayMs)*1e6)) }()
	// The kernel begins to stamp some milliseconds after the first socket asks for it.
	time.Sleep(20 * time.Millisecond)
	offset := clockOffsetNs()
	err = send(sender, run, s.plan, headerBytes(o.address), s.sentNs)
	ended.Store(true)
	if err := errors.Join(err, <-received); err != nil {
		return nil, fmt.Errorf("the path cannot be measured: %w", err)
	}
	// The stamps are of the wall clock, which alone has a kernel stamp: a step of it must not pass for delay.
	if step := clockOffsetNs() - offset; max(step, -step) > 50_000 {
		s.clockStepNs = step
	}
	switch o.mode {
	case "rate":
		return s.rate(int64((o.skipMs + o.delayMs) * 1e6)), nil
	case "loss":
		return s.loss(o.confidence, o.family, o.dispersion), nil
	}
	return s.delay(o.rateMbps, o.delayMs), nil
}

func clockOffsetNs() int64 {
	best, offset := int64(1<<62), int64(0)
	for range 10 {
		before := monotonicNs()
		wall := time.Now().UnixNano()
		if took := monotonicNs() - before; took < best {
			best, offset = took, wall-before-took/2
		}
	}
	return offset
}
