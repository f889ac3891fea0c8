package listen

import (
	"errors"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Whoever names no congestion control gets bbr where the kernel has it and allows it, and then nothing is said.
func TestAutoIsTheDefault(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "127.0.0.1:0,congestion=auto"} {
		s := mustOpen(t, listen)[0]
		is, says := s.Congestion == preferred, s.WeakCongestion()
		if is != (says == "") || !is && s.Congestion != kernelDefault() || s.Congestion != congestion(s.TCP) {
			t.Errorf("%s: %q, %q", listen, s.Congestion, says)
		}
		if slices.Contains(kernelList(t, "allowed"), preferred) && !is {
			t.Errorf("%s: the kernel allows %s, and the listener has %s", listen, preferred, s.Congestion)
		}
	}
}

// A kernel without it refuses nothing else: the listener has the kernel's default, also where it had another one before.
func TestAutoWithoutTheModule(t *testing.T) {
	s := mustOpen(t, "127.0.0.1:0,congestion=reno")[0]
	why, err := control(s.TCP, Auto, "nonesuch")
	if err != nil || !errors.Is(why, syscall.ENOENT) || congestion(s.TCP) != kernelDefault() {
		t.Errorf("%v, %v, %s", why, err, congestion(s.TCP))
	}
}

// The kernel has one that it does not allow to a process without CAP_NET_ADMIN.
func TestAutoNotAllowed(t *testing.T) {
	allowed := kernelList(t, "allowed")
	restricted := slices.DeleteFunc(kernelList(t, "available"), func(name string) bool { return slices.Contains(allowed, name) })
	if len(restricted) == 0 {
		t.Skip("this kernel allows all that it has")
	}
	s := mustOpen(t, "127.0.0.1:0")[0]
	onThread(func() {
		dropNetAdmin(t)
		why, err := control(s.TCP, Auto, restricted[0])
		if err != nil || !errors.Is(why, syscall.EPERM) || congestion(s.TCP) != kernelDefault() {
			t.Errorf("%s: %v, %v, %s", restricted[0], why, err, congestion(s.TCP))
		}
	})
}

// Each network namespace has a default of its own, which gives way to what Auto wants.
func TestAutoInANamespace(t *testing.T) {
	others := slices.DeleteFunc(kernelList(t, "available"), func(name string) bool { return name == "reno" })
	if os.Geteuid() != 0 || len(others) == 0 {
		t.Skip("this needs root, and another congestion control than reno")
	}
	onThread(func() {
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = os.WriteFile("/proc/sys/net/ipv4/tcp_congestion_control", []byte("reno"), 0)
		}
		if err != nil {
			t.Error(err)
			return
		}
		for wanted, want := range map[string]string{"nonesuch": "reno", others[0]: others[0]} {
			ln, err := listenTCP(netip.MustParseAddrPort("0.0.0.0:0"))
			if err != nil {
				t.Error(err)
				return
			}
			defer ln.Close()
			if _, err := control(ln, Auto, wanted); err != nil || congestion(ln) != want {
				t.Errorf("%s, want %s (%v)", congestion(ln), want, err)
			}
		}
	})
}

// The sentence has what to type.
func TestWeakCongestion(t *testing.T) {
	const allow, load = `sysctl net.ipv4.tcp_allowed_congestion_control="reno cubic bbr"`, "modprobe tcp_bbr"
	forbidden, missing := weakCongestion("cubic", syscall.EPERM), weakCongestion("cubic", syscall.ENOENT)
	if !strings.Contains(forbidden, "not allowed") || !strings.Contains(forbidden, allow) || strings.Contains(forbidden, load) {
		t.Error(forbidden)
	}
	if !strings.Contains(missing, "this kernel has no bbr") || !strings.Contains(missing, load+"; "+allow) {
		t.Error(missing)
	}
}

// kernelList returns the congestion controls that are available, or allowed.
func kernelList(t *testing.T, which string) []string {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_" + which + "_congestion_control")
	if err != nil {
		t.Skip(err)
	}
	return strings.Fields(string(text))
}

// onThread runs f on a thread of its own, which ends with it.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
}

// dropNetAdmin takes CAP_NET_ADMIN from this thread.
func dropNetAdmin(t *testing.T) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		t.Error(err)
	}
	sets[0].Effective &^= 1 << unix.CAP_NET_ADMIN
	if err := unix.Capset(&header, &sets[0]); err != nil {
		t.Error(err)
	}
}
