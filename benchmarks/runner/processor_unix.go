//go:build unix

package runner

import (
	"syscall"
	"time"
)

// processor returns the user CPU time of this process in seconds.
func processor() float64 {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails for other arguments alone
	return time.Duration(used.Utime.Nano()).Seconds()
}
