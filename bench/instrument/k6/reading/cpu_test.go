package reading

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestCPUTimeOfThisProcess(t *testing.T) {
	before, err := OwnCPUTime()
	if err != nil {
		t.Fatal(err)
	}
	// Work until the clock has moved by what even ticks would show.
	for used := before; used-before < 30*time.Millisecond; {
		if used, err = OwnCPUTime(); err != nil {
			t.Fatal(err)
		}
	}
	for name, read := range map[string]func(int) (time.Duration, error){
		"CPUTime": CPUTime, "clock": clockCPUTime, "stat": statCPUTime,
	} {
		low, err := OwnCPUTime()
		if err != nil {
			t.Fatal(err)
		}
		used, err := read(os.Getpid())
		high, _ := OwnCPUTime()
		if err != nil || used < low-3*tick || used > high+3*tick {
			t.Errorf("%s: %s, %v, want it between %s and %s", name, used, err, low, high)
		}
	}
}

func TestCPUTimeOfAnotherProcess(t *testing.T) {
	child := exec.Command("cat")
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	// An answer means that it has worked, and the next read that it waits.
	if _, err := input.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(output, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	used, err := clockCPUTime(child.Process.Pid)
	own, _ := OwnCPUTime()
	if err != nil || used <= 0 || used == own {
		t.Errorf("a process that waits: %s, %v", used, err)
	}
	_ = input.Close()
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if used, err := CPUTime(child.Process.Pid); err == nil {
		t.Errorf("a process that has ended: %s", used)
	}
	if _, err := CPUTime(0); err == nil {
		t.Error("pid 0 is this process to the kernel, and nobody to us")
	}
}

func TestParseStat(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"7 (edge) S 1 7 7 0 -1 4194560 1 0 0 0 120 34 0 0 20 0", 154, true},
		{"7 (a) b) (c) S 1 7 7 0 -1 4194560 1 0 0 0 1 2 0 0 20 0", 3, true},
		{"7 (edge) S 1", 0, false},
		{"", 0, false},
		{"7 (edge) S 1 7 7 0 -1 4194560 1 0 0 0 x 34 0 0 20 0", 0, false},
	} {
		if got, err := parseStat(test.text); got != test.want || (err == nil) != test.ok {
			t.Errorf("%q: %d, %v", test.text, got, err)
		}
	}
}
