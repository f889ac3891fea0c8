package main

import (
	"encoding/binary"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const receiveBatch = 64

// receive takes packets of this run until all have come, or until the sender has ended and none came for quietNs.
func receive(socket int, run uint32, s *sample, ended *atomic.Bool, quietNs int64) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var (
		payloads [receiveBatch][payloadBytes]byte
		controls [receiveBatch][64]byte
		vectors  [receiveBatch]unix.Iovec
		messages [receiveBatch]mmsghdr
	)
	last, left, latest := monotonicNs(), len(s.plan), -1
	for left > 0 {
		for i := range messages {
			vectors[i] = unix.Iovec{Base: &payloads[i][0], Len: payloadBytes}
			messages[i].header = unix.Msghdr{Iov: &vectors[i], Iovlen: 1, Control: &controls[i][0], Controllen: 64}
		}
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(socket), uintptr(unsafe.Pointer(&messages[0])),
			receiveBatch, unix.MSG_WAITFORONE, 0, 0)
		switch errno {
		case 0:
		case unix.EAGAIN, unix.EINTR:
			if !ended.Load() {
				last = monotonicNs()
			} else if monotonicNs()-last > quietNs {
				return nil
			}
			continue
		default:
			return errno
		}
		last = monotonicNs()
		for i := range int(n) {
			number := int(binary.BigEndian.Uint32(payloads[i][4:]))
			if binary.BigEndian.Uint32(payloads[i][0:]) != run || number >= len(s.plan) || s.receivedNs[number] != 0 {
				continue
			}
			stampNs, drops, err := readControl(controls[i][:messages[i].header.Controllen])
			if err != nil {
				return err
			}
			s.receivedNs[number] = stampNs
			s.receiverDrops = max(s.receiverDrops, drops)
			left--
			if number < latest {
				s.reordered++
			}
			latest = max(latest, number)
		}
	}
	return nil
}

// readControl finds the kernel's stamp and its count of datagrams that the socket had no room for.
func readControl(control []byte) (stampNs int64, drops uint64, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0, 0, err
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_TIMESTAMPNS && len(m.Data) >= 16:
			stampNs = int64(binary.NativeEndian.Uint64(m.Data))*1e9 + int64(binary.NativeEndian.Uint64(m.Data[8:]))
		case m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SO_RXQ_OVFL && len(m.Data) >= 4:
			drops = uint64(binary.NativeEndian.Uint32(m.Data))
		}
	}
	return stampNs, drops, nil
}
