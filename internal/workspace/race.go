//go:build race

package workspace

const spoils = true
