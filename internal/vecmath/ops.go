package vecmath

import "math"

// The operations of kernels_go.go. Each is one instruction of the vector kernels.

func lesser(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

func greater(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}

func pick(mask bool, a, b float64) float64 {
	if mask {
		return a
	}
	return b
}

func and(a, b float64) float64 {
	return math.Float64frombits(math.Float64bits(a) & math.Float64bits(b))
}

func or(a, b float64) float64 {
	return math.Float64frombits(math.Float64bits(a) | math.Float64bits(b))
}

func xor(a, b float64) float64 {
	return math.Float64frombits(math.Float64bits(a) ^ math.Float64bits(b))
}

func addInt(a, b float64) float64 {
	return math.Float64frombits(math.Float64bits(a) + math.Float64bits(b))
}

func shr(a float64, k uint) float64 { return math.Float64frombits(math.Float64bits(a) >> k) }

func shl(a float64, k uint) float64 { return math.Float64frombits(math.Float64bits(a) << k) }

// scale returns a·2ⁿ, rounded once, for the n in the low bits of biased.
func scale(a, biased float64) float64 {
	n := int32(math.Float64bits(biased))
	half := n >> 1
	return float64(a*power(half)) * power(n-half)
}

func power(n int32) float64 { return math.Float64frombits(uint64(n+1023) << 52) }
