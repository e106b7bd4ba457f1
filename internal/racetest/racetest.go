// Package racetest skips tests under the race detector.
package racetest

import "testing"

// SkipNumerical skips, under the race detector and with -short, a test of results. The only goroutines of such
// a test are the goroutines of parallel fits and searches. Other tests of its package run these too.
func SkipNumerical(t testing.TB) {
	t.Helper()
	if Enabled && testing.Short() {
		t.Skip("a numerical test")
	}
}
