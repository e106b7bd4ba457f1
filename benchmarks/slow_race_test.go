//go:build race

package benchmarks

// slow says that the race detector makes long loops costly.
const slow = true
