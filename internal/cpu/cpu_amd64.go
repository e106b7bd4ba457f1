//go:build !noasm

package cpu

// cpuid runs CPUID with the given EAX and ECX.
func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// xgetbv reads XCR0, the register state that the operating system saves.
func xgetbv() (eax, edx uint32)

func detect() Level {
	const (
		fma     = 1 << 12 // leaf 1, ECX
		osxsave = 1 << 27
		avx     = 1 << 28

		avx2     = 1 << 5 // leaf 7, EBX
		avx512f  = 1 << 16
		avx512dq = 1 << 17
		avx512bw = 1 << 30
		avx512vl = 1 << 31

		ymmState = 0b0000_0110 // XCR0: XMM and upper YMM
		zmmState = 0b1110_0110 // and masks, upper ZMM, ZMM 16 to 31
	)
	if leaves, _, _, _ := cpuid(0, 0); leaves < 7 {
		return Go
	}
	has := func(word uint32, bits uint32) bool { return word&bits == bits }
	_, _, c1, _ := cpuid(1, 0)
	if !has(c1, fma|osxsave|avx) {
		return Go
	}
	state, _ := xgetbv()
	_, b7, _, _ := cpuid(7, 0)
	switch {
	case has(state, zmmState) && has(b7, avx2|avx512f|avx512dq|avx512bw|avx512vl):
		return AVX512
	case has(state, ymmState) && has(b7, avx2):
		return AVX2
	}
	return Go
}
