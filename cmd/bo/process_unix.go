//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// runInGroup runs cmd as the leader of a process group. The whole group is killed when the
// context of cmd ends. Processes that leave the group escape.
func runInGroup(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	cmd.Cancel = func() error { return killGroup(cmd) }
	return cmd.Run()
}

func killGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// askGroup asks the program and its group to end.
func askGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
