package upstream

import (
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// peerProcess returns the id of the process that listens on the Unix socket at the other end; 0 for any other connection.
func peerProcess(c net.Conn) int {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// openFilesLimit returns a process's soft limit on descriptors (proc(5), /proc/pid/limits); 0 where this user may not read it.
func openFilesLimit(pid int) (n int) {
	limits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	_, soft, _ := strings.Cut(string(limits), "\nMax open files")
	_, _ = fmt.Sscan(soft, &n) // "unlimited" counts as not known
	return n
}
