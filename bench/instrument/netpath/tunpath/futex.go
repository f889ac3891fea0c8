package tunpath

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A futex and not clock_nanosleep, which is as exact: both are one hrtimer, but this sleep can be cut short when a
// packet arrives. A channel would add a switch through Go's scheduler.
const (
	futexWaitBitsetPrivate = 9 | 128 // its timeout is absolute, in CLOCK_MONOTONIC
	futexWaitPrivate       = 0 | 128
	futexWakePrivate       = 1 | 128
	futexMatchAny          = 0xffffffff
)

// bell wakes one thread that sleeps until a time.
type bell struct {
	rings uint32
}

func (b *bell) heard() uint32 { return atomic.LoadUint32(&b.rings) }

func (b *bell) ring() {
	atomic.AddUint32(&b.rings, 1)
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rings)), futexWakePrivate, 1, 0, 0, 0)
}

// sleep returns at the absolute time, or when the bell rang since heard was read.
func (b *bell) sleep(heard uint32, until *unix.Timespec) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&b.rings)), futexWaitBitsetPrivate, uintptr(heard),
		uintptr(unsafe.Pointer(until)), 0, futexMatchAny)
}
