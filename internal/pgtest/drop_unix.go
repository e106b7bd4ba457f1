//go:build unix

package pgtest

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// drop makes a program run as an unprivileged user if the tests run as root.
func drop(cmd *exec.Cmd) error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := unprivileged()
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return nil
}
