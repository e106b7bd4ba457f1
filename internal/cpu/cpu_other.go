//go:build !amd64 || noasm

package cpu

func detect() Level { return Go }
