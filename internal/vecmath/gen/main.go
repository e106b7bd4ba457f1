// Command gen writes the kernels of package vecmath: each straight-line program as AVX2
// assembly, as AVX-512 assembly and as Go. minimax.py computes the coefficients.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for name, text := range files() {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// files returns the generated files by name.
func files() map[string][]byte {
	all := programs()
	consts := &table{at: map[uint64]int{}}
	out := map[string][]byte{
		"kernels_avx2_amd64.s":   assembly(all, avx2, consts),
		"kernels_avx512_amd64.s": assembly(all, avx512, consts),
		"kernels_go.go":          formatted(goFile(all)),
		"kernels_amd64.go":       formatted(declarations(all)),
		"kernels_other.go":       formatted(fallbacks(all)),
	}
	out["distance_avx2_amd64.s"] = distances(avx2, consts)
	out["distance_avx512_amd64.s"] = distances(avx512, consts)
	out["constants_amd64.s"] = constants(consts)
	return out
}

func formatted(src []byte) []byte {
	text, err := format.Source(src)
	if err != nil {
		panic(fmt.Sprintf("%v\n%s", err, src))
	}
	return text
}

// arguments returns the outputs of p as parameters.
func arguments(p *program) string { return []string{"dst", "dst, slope"}[len(p.outs)-1] }

func declarations(all []*program) []byte {
	var b bytes.Buffer
	b.WriteString(header("!noasm"))
	b.WriteString("package vecmath\n\nimport \"github.com/functionspace/bo/internal/cpu\"\n\n")
	for _, p := range all {
		args := arguments(p)
		first, cut, rest := "&dst[0], &x[0]", "dst[:n]", "dst, x = dst[n:], x[n:]"
		if len(p.outs) == 2 {
			first, cut, rest = "&dst[0], &slope[0], &x[0]", "dst[:n], slope[:n]", "dst, slope, x = dst[n:], slope[n:], x[n:]"
		}
		fmt.Fprintf(&b, "//go:noescape\nfunc %sAVX2(%s, x *float64, n int)\n\n", p.name, args)
		fmt.Fprintf(&b, "//go:noescape\nfunc %sAVX512(%s, x *float64, n int)\n\n", p.name, args)
		fmt.Fprintf(&b, `func %[1]s(%[2]s, x []float64) {
	for len(x) > 0 {
		n := min(len(x), chunk)
		switch level {
		case cpu.AVX512:
			%[1]sAVX512(%[3]s, n)
		case cpu.AVX2:
			%[1]sAVX2(%[3]s, n)
		default:
			%[1]sGo(%[4]s, x[:n])
		}
		%[5]s
	}
}

`, p.name, args, first, cut, rest)
	}
	for _, name := range distanceNames {
		first, second := "w", "x"
		if name == "sqdist" {
			first, second = "x", "inv"
		}
		count := map[bool]string{true: "len(dst), len(x)", false: "len(w), len(x)"}[name == "sqdist"]
		fmt.Fprintf(&b, `//go:noescape
func %[1]sAVX2(dst, %[2]s, %[3]s, y *float64, n, d, stride int)

//go:noescape
func %[1]sAVX512(dst, %[2]s, %[3]s, y *float64, n, d, stride int)

func %[1]s(dst, %[2]s, %[3]s, y []float64, stride int) {
	switch level {
	case cpu.AVX512:
		%[1]sAVX512(&dst[0], &%[2]s[0], &%[3]s[0], &y[0], %[4]s, stride)
	case cpu.AVX2:
		%[1]sAVX2(&dst[0], &%[2]s[0], &%[3]s[0], &y[0], %[4]s, stride)
	default:
		%[1]sGo(dst, %[2]s, %[3]s, y, stride)
	}
}

`, name, first, second, count)
	}
	return b.Bytes()
}

func fallbacks(all []*program) []byte {
	var b bytes.Buffer
	b.WriteString(header("!amd64 || noasm"))
	b.WriteString("package vecmath\n\n")
	for _, p := range all {
		fmt.Fprintf(&b, "func %[1]s(%[2]s, x []float64) { %[1]sGo(%[2]s, x) }\n\n", p.name, arguments(p))
	}
	for _, name := range distanceNames {
		fmt.Fprintf(&b, "func %[1]s(a, b, c, y []float64, stride int) { %[1]sGo(a, b, c, y, stride) }\n\n", name)
	}
	return b.Bytes()
}
