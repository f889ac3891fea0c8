package tunpath

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lock is a mutex between threads. sync.Mutex parks goroutines: one that is tied to its thread then takes two more
// switches, through another thread of Go's scheduler, until it runs again.
type lock struct {
	state uint32 // 0 free, 1 taken, 2 taken and waited for
}

// lockSpins is about a microsecond, longer than the lock is held for one packet.
const lockSpins = 100

func (l *lock) Lock() {
	for range lockSpins {
		if atomic.CompareAndSwapUint32(&l.state, 0, 1) {
			return
		}
	}
	for atomic.SwapUint32(&l.state, 2) != 0 {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&l.state)), futexWaitPrivate, 2, 0, 0, 0)
	}
}

func (l *lock) Unlock() {
	if atomic.SwapUint32(&l.state, 0) == 2 {
		_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&l.state)), futexWakePrivate, 1, 0, 0, 0)
	}
}
