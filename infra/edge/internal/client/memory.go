package client

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
)

// Memory returns a field of a process's memory in kB, such as VmRSS or VmHWM (proc(5)); 0: nobody knows.
func Memory(pid int, field string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		return 0
	}
	kb, _ := strconv.Atoi(string(found[1]))
	return kb
}
