// pathprobe sends the packets of a plan from one network namespace to another one, and prints when each of them left and
// arrived. It knows nothing of what is between the two.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"adaptive-h3/bench/instrument/netpath/netns"
)

// plan is what is sent: when, in nanoseconds since the first packet, of how many IP bytes, from 32 to 65535, and in which of two flows.
type plan struct {
	DueNs []int64 `json:"dueNs"`
	Bytes []int   `json:"bytes"`
	Apart []bool  `json:"apart"` // whether in the second flow; left out: none is
}

// stamps is what one run saw. Times are in nanoseconds since the run began.
type stamps struct {
	// SentNs is from just before the send call.
	SentNs []int64 `json:"sentNs"`
	// ReceivedNs is the receiving kernel's stamp, so that the receiver's wake-up does not count; -1: it did not arrive.
	ReceivedNs []int64 `json:"receivedNs"`
	// ReceiverDrops and ClockStepNs other than 0 (a step of the wall clock in between) make a run worthless.
	ReceiverDrops uint32 `json:"receiverDrops"`
	ClockStepNs   int64  `json:"clockStepNs"`
}

func main() {
	from := flag.String("from", "", "network namespace of the sender")
	to := flag.String("to", "", "network namespace of the receiver")
	var address netip.Addr
	flag.TextVar(&address, "to-address", netip.Addr{}, "IPv4 address of the receiver")
	planFile := flag.String("plan", "", `JSON: {"dueNs": [...], "bytes": [...], "apart": [...]} of the packets, in order`)
	quiet := flag.Duration("quiet", time.Second, "give up on packets after this time without any")
	flag.Parse()
	result, err := measure(*from, *to, address, *planFile, *quiet)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(from, to string, address netip.Addr, planFile string, quiet time.Duration) (*stamps, error) {
	var p plan
	text, err := os.ReadFile(planFile)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return nil, fmt.Errorf("-plan: %w", err)
	}
	// A socket stays in the namespace in which it was made.
	var receiver *net.UDPConn
	var senders [2]*net.UDPConn
	err = netns.Do(to, func() (err error) {
		receiver, err = net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(address, 0)))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot receive on %s in %s: %w", address, to, err)
	}
	defer receiver.Close()
	for flow := range senders {
		err = netns.Do(from, func() (err error) {
			senders[flow], err = net.DialUDP("udp4", nil, receiver.LocalAddr().(*net.UDPAddr))
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s has no way to %s: %w", from, address, err)
		}
		defer senders[flow].Close()
	}
	if err := errors.Join(prepareReceiver(receiver), prepareSender(senders[0]), prepareSender(senders[1])); err != nil {
		return nil, err
	}
	// The kernel begins to stamp some milliseconds after the first socket asks for it.
	time.Sleep(20 * time.Millisecond)
	s := &stamps{SentNs: make([]int64, len(p.DueNs)), ReceivedNs: slices.Repeat([]int64{-1}, len(p.DueNs))}
	began := time.Now()
	if err := send(senders, p, began, s.SentNs); err != nil {
		return nil, fmt.Errorf("cannot send: %w", err)
	}
	// Only now: what arrived meanwhile waits in the socket, and the receiver took no core from the path.
	if err := errors.Join(receive(receiver, began, s.ReceivedNs, quiet), readDrops(receiver, &s.ReceiverDrops)); err != nil {
		return nil, fmt.Errorf("cannot receive: %w", err)
	}
	s.ClockStepNs = clockStep(began)
	return s, nil
}

// clockStep is how far the wall clock, of which the kernel's stamps are, was set meanwhile: that must not pass for delay.
func clockStep(began time.Time) int64 {
	now := time.Now()
	if step := now.UnixNano() - began.UnixNano() - int64(now.Sub(began)); max(step, -step) > 50_000 {
		return step
	}
	return 0
}
