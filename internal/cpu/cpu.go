package cpu

import "os"

// Level is a set of vector instructions. Each level includes the lower levels.
type Level int

// The levels.
const (
	Go     Level = iota // no assembly
	AVX2                // AVX2 and FMA, 256 bits
	AVX512              // AVX-512 F, DQ, BW and VL, 512 bits
)

var names = [...]string{Go: "go", AVX2: "avx2", AVX512: "avx512"}

// String returns the value of BO_KERNEL that selects the level.
func (l Level) String() string { return names[l] }

// Supported is the highest level that processor and operating system support.
var Supported = detect()

// Best is the level in use: Supported, or the lower level in BO_KERNEL.
var Best = lowered(Supported, os.Getenv("BO_KERNEL"))

func lowered(supported Level, wish string) Level {
	for l := Go; l < supported; l++ {
		if l.String() == wish {
			return l
		}
	}
	return supported
}
