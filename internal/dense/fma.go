//go:build amd64.v3 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x

package dense

import "math"

// fused tells whether the Go kernels round as the assembly does.
const fused = true

// mulAdd returns x·y + z, rounded once: one instruction on these machines.
func mulAdd(x, y, z float64) float64 { return math.FMA(x, y, z) }
