//go:build amd64.v3 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x

package dense

import "math"

// mulAdd returns x·y + z, rounded once: one instruction on these machines.
func mulAdd(x, y, z float64) float64 { return math.FMA(x, y, z) }
