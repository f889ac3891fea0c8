package netem

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"adaptive-h3/bench/netpath/netns"
)

// Of linux/ethtool.h; the program ethtool need not be installed.
const (
	setTSO = 0x1f
	setGSO = 0x24
	setGRO = 0x2c
)

// offloadsOff keeps the kernel from joining segments: netem would lose and delay whole trains of them.
func offloadsOff(namespace, device string) error {
	return netns.Do(namespace, func() error {
		socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(socket)
		for _, command := range []uint32{setTSO, setGSO, setGRO} {
			value := [2]uint32{command, 0} // struct ethtool_value
			request := struct {
				name [unix.IFNAMSIZ]byte
				data unsafe.Pointer
				_    [16]byte
			}{data: unsafe.Pointer(&value)}
			copy(request.name[:unix.IFNAMSIZ-1], device)
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
			runtime.KeepAlive(&value)
			if errno != 0 {
				return fmt.Errorf("cannot switch off the offloads of %s: %w", device, errno)
			}
		}
		return nil
	})
}
