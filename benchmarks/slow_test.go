//go:build !race

package benchmarks

const slow = false
