//go:build !(amd64.v3 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package dense

// mulAdd returns x·y + z, rounded twice.
func mulAdd(x, y, z float64) float64 { return float64(x*y) + z }
