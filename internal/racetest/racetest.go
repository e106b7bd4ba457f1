// Package racetest skips tests under the race detector.
package racetest

import "testing"

// SkipNumerical skips, under the race detector and with -short, a test of results whose only goroutines are the
// goroutines of parallel fits and searches, as other tests of its package run them too.
func SkipNumerical(t testing.TB) {
	t.Helper()
	if Enabled && testing.Short() {
		t.Skip("a numerical test")
	}
}
