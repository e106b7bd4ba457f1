//go:build !linux

package store

// hostIdentity returns "": a lost process is noticed when its lease ends.
func hostIdentity() string    { return "" }
func processStart(int) string { return "" }
