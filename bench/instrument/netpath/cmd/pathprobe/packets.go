package main

import (
	"encoding/binary"
	"errors"
	"net"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	headerBytes = 28 // what IPv4 and UDP add to a datagram
	numberBytes = 4  // a payload begins with the packet's number
	maxPacket   = 65535
)

// prepareReceiver makes room for all packets of a run; no global setting is changed.
func prepareReceiver(conn *net.UDPConn) error {
	return errors.Join(setOption(conn, unix.SO_RCVBUFFORCE, 512<<20), setOption(conn, unix.SO_TIMESTAMPNS, 1))
}

func prepareSender(conn *net.UDPConn) error { return setOption(conn, unix.SO_SNDBUFFORCE, 4<<20) }

func setOption(conn *net.UDPConn, option, value int) error {
	return control(conn, func(socket uintptr) error {
		return unix.SetsockoptInt(int(socket), unix.SOL_SOCKET, option, value)
	})
}

// readDrops counts the packets that the socket had no room for.
func readDrops(conn *net.UDPConn, drops *uint32) error {
	return control(conn, func(socket uintptr) error {
		var memory [unix.SK_MEMINFO_VARS]uint32
		size := unsafe.Sizeof(memory)
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, socket, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&memory)), uintptr(unsafe.Pointer(&size)), 0)
		*drops = memory[unix.SK_MEMINFO_DROPS]
		if errno != 0 {
			return errno
		}
		return nil
	})
}

func control(conn *net.UDPConn, f func(socket uintptr) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(socket uintptr) { failed = f(socket) })
	return errors.Join(err, failed)
}

// send sends the packets of the plan and writes down when each of them really left.
func send(conns [2]*net.UDPConn, p plan, began time.Time, sentNs []int64) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	var start unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &start); err != nil {
		return err
	}
	packet := make([]byte, maxPacket)
	for i, dueNs := range p.DueNs {
		if time.Since(began) < time.Duration(dueNs) {
			// time.Sleep is too coarse.
			until := unix.NsecToTimespec(start.Nano() + dueNs)
			_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil)
		}
		binary.BigEndian.PutUint32(packet, uint32(i))
		sentNs[i] = time.Now().UnixNano() - began.UnixNano()
		conn := conns[0]
		if i < len(p.Apart) && p.Apart[i] {
			conn = conns[1]
		}
		if _, err := conn.Write(packet[:p.Bytes[i]-headerBytes]); err != nil {
			return err
		}
	}
	return nil
}

// receive takes packets until all have come, or none came for a while.
func receive(conn *net.UDPConn, began time.Time, receivedNs []int64, quiet time.Duration) error {
	payload, control := make([]byte, numberBytes), make([]byte, 64)
	for left := len(receivedNs); left > 0; {
		if err := conn.SetReadDeadline(time.Now().Add(quiet)); err != nil {
			return err
		}
		_, n, _, _, err := conn.ReadMsgUDPAddrPort(payload, control)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
		number := int(binary.BigEndian.Uint32(payload))
		if number >= len(receivedNs) || receivedNs[number] >= 0 {
			continue
		}
		stampNs, err := stampIn(control[:n])
		if err != nil {
			return err
		}
		receivedNs[number] = stampNs - began.UnixNano()
		left--
	}
	return nil
}

// stampIn is the time at which the kernel got the packet.
func stampIn(control []byte) (int64, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return 0, errors.Join(err, errors.New("the kernel stamped no time"))
	}
	data := messages[0].Data
	return int64(binary.NativeEndian.Uint64(data))*1e9 + int64(binary.NativeEndian.Uint64(data[8:])), nil
}
