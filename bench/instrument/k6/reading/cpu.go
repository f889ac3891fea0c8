// Package reading reads what a load cost and whether the machine kept up: CPU time of processes, the busiest core, and
// the counters of the emulated network path.
package reading

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime gives the CPU time, user and system, that the process has used so far.
func CPUTime(pid int) (time.Duration, error) {
	if pid <= 0 {
		return 0, fmt.Errorf("pid %d is no process", pid)
	}
	if used, err := clockCPUTime(pid); err == nil {
		return used, nil
	}
	// Some sandboxes know only one's own clocks; this one ticks in 10 ms.
	return statCPUTime(pid)
}

// OwnCPUTime gives the CPU time of this process.
func OwnCPUTime() (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &now); err != nil {
		return 0, fmt.Errorf("reading the process clock: %w", err)
	}
	return time.Duration(now.Nano()), nil
}

// clockCPUTime reads the process's CPU clock, in nanoseconds. Its id is made as the kernel's MAKE_PROCESS_CPUCLOCK does
// (include/linux/posix-timers.h): the inverted pid, three bits up, and CPUCLOCK_SCHED, which is 2.
func clockCPUTime(pid int) (time.Duration, error) {
	var used unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &used); err != nil {
		return 0, fmt.Errorf("reading the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
}

const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux that Go runs on

func statCPUTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, err)
	}
	ticks, err := parseStat(string(text))
	if err != nil {
		return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	return time.Duration(ticks) * tick, nil
}

// parseStat gives utime + stime, fields 14 and 15 (proc(5)).
func parseStat(text string) (int64, error) {
	// The name, in parentheses, may have spaces and parentheses of its own.
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 13 {
		return 0, fmt.Errorf("%d fields after the name", len(fields))
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("utime: %w", err)
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("stime: %w", err)
	}
	return user + system, nil
}
