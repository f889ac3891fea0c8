package tunpath

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"adaptive-h3/bench/instrument/netpath/netns"
)

// device is a TUN device inside a namespace. It vanishes when its file is closed, also by kill -9.
type device struct {
	file  int
	stats *os.File // /proc/net/dev of its namespace
}

// txQueueLen is the ring in which packets wait for the reader, who may be kept off its core for some milliseconds. A
// full ring drops without the shaper's knowledge: statistics name that droppedDevice.
const txQueueLen = 10_000

// name is the device's, in whatever namespace it is.
const name = "netpath"

const mtu = 1500

// open makes the device within the namespace: it is never seen in the root namespace, where others might configure it.
func open(namespace string) (*device, error) {
	d := &device{}
	err := netns.Do(namespace, func() error {
		file, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("cannot open /dev/net/tun: %w", err)
		}
		d.file = file
		request, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		if err := unix.IoctlIfreq(file, unix.TUNSETIFF, request); err != nil {
			return fmt.Errorf("cannot make the device %s in %s: %w", name, namespace, err)
		}
		// No link-local address and no router solicitations: packets that nobody sent would shift the drop sequence.
		quiet := "/proc/sys/net/ipv6/conf/" + name + "/addr_gen_mode"
		if err := os.WriteFile(quiet, []byte("1"), 0); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("cannot quieten IPv6 on %s: %w", name, err)
		}
		if d.stats, err = os.Open("/proc/thread-self/net/dev"); err != nil {
			return err
		}
		return bringUp()
	})
	return d, err
}

func bringUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	for _, step := range []struct {
		what  string
		ioctl uint
		set   func(*unix.Ifreq)
	}{
		{"set the MTU of", unix.SIOCSIFMTU, func(r *unix.Ifreq) { r.SetUint32(mtu) }},
		{"set the queue length of", unix.SIOCSIFTXQLEN, func(r *unix.Ifreq) { r.SetUint32(txQueueLen) }},
		{"bring up", unix.SIOCSIFFLAGS, func(r *unix.Ifreq) { r.SetUint16(unix.IFF_UP) }},
	} {
		request, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		step.set(request)
		if err := unix.IoctlIfreq(socket, step.ioctl, request); err != nil {
			return fmt.Errorf("cannot %s %s: %w", step.what, name, err)
		}
	}
	return nil
}

// droppedOnTransmit reads how many packets the device threw away because nobody read them in time.
func (d *device) droppedOnTransmit() uint64 {
	if _, err := d.stats.Seek(0, io.SeekStart); err != nil {
		return 0
	}
	text, err := io.ReadAll(d.stats)
	if err != nil {
		return 0
	}
	return transmitDrops(text)
}

// transmitDrops is the twelfth number of the device's line in /proc/net/dev.
func transmitDrops(text []byte) uint64 {
	for line := range bytes.Lines(text) {
		label, numbers, ok := bytes.Cut(line, []byte(":"))
		if !ok || string(bytes.TrimSpace(label)) != name {
			continue
		}
		if fields := bytes.Fields(numbers); len(fields) > 11 {
			n, _ := strconv.ParseUint(string(fields[11]), 10, 64)
			return n
		}
	}
	return 0
}
