package upstream

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
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
func openFilesLimit(pid int) int {
	file, err := os.Open(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), "Max open files")
		if !ok {
			continue
		}
		if fields := strings.Fields(rest); len(fields) > 0 {
			n, _ := strconv.Atoi(fields[0]) // "unlimited" counts as not known
			return n
		}
	}
	return 0
}
