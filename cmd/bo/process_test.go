package main

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// An error of the machine ends a run, and an error of the program does not.
func TestExhausted(t *testing.T) {
	fault := func(err error) error { return &fs.PathError{Op: "fork/exec", Path: "train", Err: err} }
	require.Equal(t, fault(syscall.EMFILE), exhausted(fault(syscall.EMFILE)))
	require.Equal(t, fault(syscall.EMFILE), exhausted(fault(syscall.EBADF)))
	require.NoError(t, exhausted(fault(syscall.ENOENT)))
}
