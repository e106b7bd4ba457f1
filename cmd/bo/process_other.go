//go:build !unix

package main

import "os/exec"

// ownGroup leaves cmd as it is: without process groups, only the program itself
// is killed when its context ends.
func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }
