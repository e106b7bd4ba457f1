//go:build !race

package scratch

const spoils = false
