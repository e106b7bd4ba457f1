//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// lock waits for the exclusive lock of a file, which ends when the file is closed.
func lock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
