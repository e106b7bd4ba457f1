package cpu

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLowered(t *testing.T) {
	assert.Equal(t, AVX512, lowered(AVX512, ""))
	assert.Equal(t, AVX512, lowered(AVX512, "avx512"))
	assert.Equal(t, AVX2, lowered(AVX512, "avx2"))
	assert.Equal(t, Go, lowered(AVX512, "go"))
	assert.Equal(t, AVX2, lowered(AVX2, "avx512"), "never raised")
	assert.Equal(t, Go, lowered(Go, "avx2"))
	assert.Equal(t, AVX2, lowered(AVX2, "nonsense"))
}

// On systems that list the processor's flags, the flags agree with Supported.
func TestAgreesWithKernel(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || detect() == Go {
		return
	}
	flags := " " + strings.ReplaceAll(string(info), "\n", " ") + " "
	has := func(flag string) bool { return strings.Contains(flags, " "+flag+" ") }
	assert.Equal(t, has("avx512vl") && has("avx512dq") && has("avx512bw"), Supported == AVX512)
	assert.True(t, has("avx2") && has("fma"))
}

func ExampleLevel_String() {
	fmt.Println(Go, AVX2, AVX512)
	// Output: go avx2 avx512
}
