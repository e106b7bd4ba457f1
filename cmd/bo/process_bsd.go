//go:build unix && !linux

package main

import (
	"os/exec"
	"syscall"
)

// dieWithParent does nothing: without a signal at the parent's death, a program outlives a bo
// that was killed by SIGKILL.
func dieWithParent(*syscall.SysProcAttr) {}

// groupExists reports whether a process of the group is left.
func groupExists(cmd *exec.Cmd) bool { return syscall.Kill(-cmd.Process.Pid, 0) == nil }
