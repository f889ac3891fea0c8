package main

import (
	"encoding/binary"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sendBatch    = 32
	payloadBytes = 8 // the run, the packet's number
	maxPacket    = 65535
)

type mmsghdr struct {
	header unix.Msghdr
	length uint32
	_      [4]byte
}

// send sends the plan and writes down when each packet really left. What is due at once goes in one system call, in
// which the packets' times are interpolated.
func send(socket int, run uint32, plan []planned, header int, sentNs []int64) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	var (
		numbers  [sendBatch][payloadBytes]byte
		vectors  [sendBatch][2]unix.Iovec
		messages [sendBatch]mmsghdr
		filler   = make([]byte, maxPacket)
	)
	for i := range messages {
		vectors[i][0] = unix.Iovec{Base: &numbers[i][0], Len: payloadBytes}
		vectors[i][1].Base = &filler[0]
		messages[i].header.Iov, messages[i].header.Iovlen = &vectors[i][0], 2
	}
	start := monotonicNs() + 1e6
	for next := 0; next < len(plan); {
		now := monotonicNs() - start
		n := 0
		for ; n < sendBatch && next+n < len(plan) && plan[next+n].dueNs <= now; n++ {
			binary.BigEndian.PutUint32(numbers[n][0:], run)
			binary.BigEndian.PutUint32(numbers[n][4:], uint32(next+n))
			vectors[n][1].Len = uint64(int(plan[next+n].size) - header - payloadBytes)
		}
		if n == 0 {
			until := unix.NsecToTimespec(start + plan[next].dueNs)
			_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil)
			continue
		}
		before := time.Now().UnixNano()
		sent, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(socket), uintptr(unsafe.Pointer(&messages[0])),
			uintptr(n), 0, 0, 0)
		if errno != 0 && errno != unix.EINTR {
			return errno
		}
		if errno != 0 {
			continue
		}
		each := (time.Now().UnixNano() - before) / int64(sent)
		for i := range int(sent) {
			sentNs[next+i] = before + int64(i)*each
		}
		next += int(sent)
	}
	return nil
}

func monotonicNs() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return now.Nano()
}
