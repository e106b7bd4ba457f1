//go:build race

package benchmarks

// slow reports whether the race detector makes long loops costly.
const slow = true
