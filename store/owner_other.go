//go:build !linux

package store

// Elsewhere a lost process is noticed when its lease ends.
func hostIdentity() string    { return "" }
func processStart(int) string { return "" }
