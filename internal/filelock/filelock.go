// Package filelock locks open files against other processes. A lock ends when its file is closed, so that a
// process that is killed leaves none.
package filelock

import "os"

// Lock waits for the exclusive lock of a file.
func Lock(f *os.File) error {
	_, err := lock(f, true)
	return err
}

// TryLock takes the exclusive lock of a file if it is free, and reports whether it did. The error wraps
// errors.ErrUnsupported on a system or a file system without locks.
func TryLock(f *os.File) (bool, error) { return lock(f, false) }
