package main

import "syscall"

// dieWithParent has the kernel kill the program when this process dies, even by SIGKILL. The
// program's own children are not killed then.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
