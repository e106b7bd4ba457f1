package main

import (
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// job holds all programs of this process. Windows ends them, with their children, when the
// last handle to the job closes: when this process ends, however it ends.
var job = sync.OnceValues(func() (windows.Handle, error) {
	j, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(j, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return j, err
})

// runInGroup runs cmd in the job. Only the program itself is killed when the context of cmd
// ends.
func runInGroup(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if j, err := job(); err == nil {
		if h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid)); err == nil {
			_ = windows.AssignProcessToJobObject(j, h)
			_ = windows.CloseHandle(h)
		}
	}
	return cmd.Wait()
}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

// askGroup kills the program: Windows has no signal that asks a process without a console to
// end.
func askGroup(cmd *exec.Cmd) error { return killGroup(cmd) }

// groupExists reports false: the job ends the program's children with this process.
func groupExists(*exec.Cmd) bool { return false }
