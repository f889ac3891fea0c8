package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"adaptive-h3/infra/edge/internal/edgetest"
	"adaptive-h3/infra/edge/internal/quicserver"
)

// inNamespace is set in the process that a test started in a network namespace of its own.
const inNamespace = "ADAPTIVE_H3_TEST_NAMESPACE"

// On a machine with IPv6 switched off by sysctl, HTTP/3 serves and is offered. The test runs once more in a network namespace, which
// only root can make where the kernel does not let everybody.
func TestIPv6Off(t *testing.T) {
	if os.Getenv(inNamespace) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestIPv6Off$", "-test.v")
		again.Env = append(os.Environ(), inNamespace+"=1")
		again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
		if os.Getuid() != 0 {
			again.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			again.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		}
		if said, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return
	}
	setLoopbackUp(t)
	if err := os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, listen := range []string{":0", "localhost:0", "0.0.0.0:0"} {
		socket := filepath.Join(t.TempDir(), "health")
		e, inside := startInside(t, edgetest.StartUpstream(t, offering), "-listen", listen, "-health", "unix:"+socket)
		if status, h := healthOf(t, socket); status != http.StatusOK {
			t.Errorf("%s: %d %q", listen, status, h.Problems)
		}
		served := inside.servers[len(inside.servers)-1]
		if err := quicserver.Answers(served.socket.ReachedAt(), edgetest.Patience); err != nil {
			t.Errorf("%s: nobody answers at %s: %v", listen, served.socket.ReachedAt(), err)
		}
		for _, protocol := range protocols {
			e.get(e.client(protocol, served.socket.ReachedAt().String()), "/")
		}
	}
}

func setLoopbackUp(t *testing.T) {
	t.Helper()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(socket)
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	loopback.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback); err != nil {
		t.Fatal(err)
	}
}
