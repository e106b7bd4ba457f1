//go:build !unix

package runner

// processor returns 0: the CPU time is not measured on this system.
func processor() float64 { return 0 }
