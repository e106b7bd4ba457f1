package main

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that has ended, and for which its parent does not wait, is no process that terminate waits for.
func TestGroupWithoutRunningProcesses(t *testing.T) {
	leader := exec.Command("sleep", "60")
	leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, leader.Start())
	ended := exec.Command("true")
	ended.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: leader.Process.Pid}
	require.NoError(t, ended.Start())
	require.True(t, groupExists(leader))
	require.NoError(t, askGroup(leader))
	require.Error(t, leader.Wait())
	require.Eventually(t, func() bool { return !groupExists(leader) }, time.Minute, 10*time.Millisecond)
	require.NoError(t, syscall.Kill(-leader.Process.Pid, 0)) // it is still in the group
	_ = ended.Wait()
}
