//go:build !race

package workspace

const spoils = false
