//go:build !linux

package sqlite

// onNetwork returns false: only Linux identifies network file systems.
func onNetwork(string) bool { return false }
