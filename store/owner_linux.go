package store

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
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

// readStat reads the state of a process. Tests replace it.
var readStat = func(pid int) ([]byte, error) { return os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") }

// processStart returns the start time of a process since the boot. The error is os.ErrProcessDone if
// there is no such process, or if the process has ended and waits for its parent. Other errors leave
// open whether the process runs: /proc may hide processes of other users.
func processStart(pid int) (string, error) {
	text, err := readStat(pid)
	if err != nil {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return "", os.ErrProcessDone
		}
		return "", err
	}
	// The name of the program, in parentheses, may contain anything.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const state, start = 0, 19
	switch {
	case len(fields) <= start:
		return "", fmt.Errorf("process %d: unknown form of its state", pid)
	case fields[state] == "Z" || fields[state] == "X":
		return "", os.ErrProcessDone
	}
	return fields[start], nil
}
