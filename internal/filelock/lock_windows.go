package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks a byte far beyond the end of the file: other processes cannot read locked bytes.
func lock(f *os.File, wait bool) (bool, error) {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		how |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if !wait && errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
