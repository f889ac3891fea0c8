package main

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Over the loopback: no packet leaves before it is due, and the receiver gives up on those that do not come.
func TestSendAndReceive(t *testing.T) {
	receiver, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close()
	if err := setOption(receiver, unix.SO_TIMESTAMPNS, 1); err != nil {
		t.Fatal(err)
	}
	var senders [2]*net.UDPConn
	for flow := range senders {
		if senders[flow], err = net.DialUDP("udp4", nil, receiver.LocalAddr().(*net.UDPAddr)); err != nil {
			t.Fatal(err)
		}
		defer senders[flow].Close()
	}
	time.Sleep(20 * time.Millisecond) // the kernel begins to stamp packets a moment after it was asked to, and says nothing
	sentNs, receivedNs := make([]int64, 2), []int64{-1, -1, -1}
	began := time.Now()
	if err := send(senders, plan{[]int64{0, 30e6}, []int{64, 1500}, []bool{false, true}}, began, sentNs); err != nil {
		t.Fatal(err)
	}
	if err := receive(receiver, began, receivedNs, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if sentNs[1] < 30e6 || receivedNs[0] < sentNs[0] || receivedNs[1] < sentNs[1] || receivedNs[2] != -1 {
		t.Errorf("sent at %v, received at %v", sentNs, receivedNs)
	}
}
