package store

import (
	"os"
	"strconv"
	"strings"
)

// hostIdentity returns the boot and the process-number space of this process. Process
// numbers are comparable between processes with equal identities.
func hostIdentity() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, err2 := os.Readlink("/proc/self/ns/pid")
	if err != nil || err2 != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// processStart returns the start time of a process since the boot. It returns "" if there is
// no such process, or if the process has ended and waits for its parent.
func processStart(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name of the program, in parentheses, may contain anything.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return fields[start]
}
