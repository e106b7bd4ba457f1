//go:build unix && !linux

package main

import "syscall"

// dieWithParent does nothing: without a signal at the parent's death, a program outlives a bo
// that was killed by SIGKILL.
func dieWithParent(*syscall.SysProcAttr) {}
