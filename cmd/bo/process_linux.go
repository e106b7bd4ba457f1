package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// dieWithParent has the kernel kill the program when this process dies, even by SIGKILL. The
// program's own children are not killed then.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// groupExists reports whether a process of the group runs. A process that has ended belongs to its group until
// its parent waits for it, and the first process of a container may never do so.
func groupExists(cmd *exec.Cmd) bool {
	if syscall.Kill(-cmd.Process.Pid, 0) != nil {
		return false
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return true
	}
	group := strconv.Itoa(cmd.Process.Pid)
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		text, _ := os.ReadFile(path) // pid (name) state parent group …
		f := strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:])
		if len(f) > 2 && f[2] == group && f[0] != "Z" {
			return true
		}
	}
	return false
}
