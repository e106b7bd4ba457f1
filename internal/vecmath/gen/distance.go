package main

import (
	"bytes"
	"fmt"
	"strings"
)

// distances prints the kernels over points stored by dimension: coordinate c of point j
// is y[c·stride+j].
func distances(t target, consts *table) []byte {
	w := &writer{target: t, consts: consts}
	w.WriteString(header("!noasm"))
	w.WriteString("#include \"textflag.h\"\n\n")
	w.sqdist()
	w.moments("firstMoments", false)
	w.moments("secondMoments", true)
	return w.Bytes()
}

// writer prints a template and fills in the registers of a target.
type writer struct {
	bytes.Buffer
	target
	consts *table
}

// put prints lines; V1 represents vector register 1.
func (w *writer) put(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for r := w.regs - 1; r >= 0; r-- {
		text = strings.ReplaceAll(text, fmt.Sprintf("<%d>", r), fmt.Sprintf("%s%d", w.reg, r))
	}
	w.WriteString(strings.TrimLeft(text, "\n"))
}

func (w *writer) bytesPer() int { return 8 * w.lanes }

// maskFor sets the mask of the first AX ≤ lanes elements, in K1 or <15>.
func (w *writer) maskFor() {
	if w.lanes == 8 {
		w.put(`
	MOVQ AX, CX
	MOVL $1, R9
	SHLL CX, R9
	DECL R9
	KMOVW R9, K1
`)
		return
	}
	w.put(`
	LEAQ ·tailMask(SB), R9
	MOVQ AX, CX
	NEGQ CX
	VMOVDQU %d(R9)(CX*8), <15>
`, maskLanes*8)
}

// maskedLoad loads the selected elements, and 0 for the others.
func (w *writer) maskedLoad(from, to string) {
	if w.lanes == 8 {
		w.put("\tVMOVUPD.Z %s, K1, %s\n", from, to)
	} else {
		w.put("\tVMASKMOVPD %s, <15>, %s\n", from, to)
	}
}

func (w *writer) maskedStore(from, to string) {
	if w.lanes == 8 {
		w.put("\tVMOVUPD %s, K1, %s\n", from, to)
	} else {
		w.put("\tVMASKMOVPD %s, <15>, %s\n", from, to)
	}
}

// clear zeroes vector registers.
func (w *writer) clear(regs ...int) {
	for _, r := range regs {
		w.put("\tVPXOR X%d, X%d, X%d\n", r, r, r) // zeroes the whole register
	}
}

// sqdist processes four vectors of points at a time, then one, the last masked.
func (w *writer) sqdist() {
	w.put(`
// func sqdist%s(dst, x, inv, y *float64, n, d, stride int)
// DI dst, SI x, DX inv, BX y, R8 points left, R10 d, R11 bytes from one
// coordinate to the next, R12 y at the present coordinate, R13 that coordinate;
// <0> to <3> sums, <4> to <7> differences, <8> x_c, <9> inv_c, <10> the limit.
TEXT ·sqdist%[1]s(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ inv+16(FP), DX
	MOVQ y+24(FP), BX
	MOVQ n+32(FP), R8
	MOVQ d+40(FP), R10
	MOVQ stride+48(FP), R11
	SHLQ $3, R11
	VBROADCASTSD ·constants+%d(SB), <10>

four:
	CMPQ R8, $%d
	JLT  one
`, w.suffix, w.consts.offset(newProgram("").c(1e300).bits), 4*w.lanes)
	w.clear(0, 1, 2, 3)
	w.put(`
	MOVQ BX, R12
	XORQ R13, R13

fourdims:
	VBROADCASTSD (SI)(R13*8), <8>
	VBROADCASTSD (DX)(R13*8), <9>
`)
	for u := range 4 {
		w.put("\tVSUBPD %d(R12), <8>, <%d>\n", w.bytesPer()*u, 4+u)
	}
	for u := range 4 {
		w.put("\tVMULPD <9>, <%d>, <%[1]d>\n", 4+u)
	}
	for u := range 4 {
		w.put("\tVFMADD231PD <%d>, <%[1]d>, <%d>\n", 4+u, u)
	}
	w.put(`
	ADDQ R11, R12
	INCQ R13
	CMPQ R13, R10
	JLT  fourdims
`)
	for u := range 4 {
		w.put("\tVMINPD <%d>, <10>, <%[1]d>\n", u)
		w.put("\tVMOVUPD <%d>, %d(DI)\n", u, w.bytesPer()*u)
	}
	w.sqdistRest()
}

// sqdistRest writes the end of sqdist: the loop over single vectors of points.
func (w *writer) sqdistRest() {
	w.put(`
	ADDQ $%d, DI
	ADDQ $%[1]d, BX
	SUBQ $%d, R8
	JMP  four

one:
	TESTQ R8, R8
	JLE  done
	MOVQ $%d, AX
	CMPQ R8, AX
	CMOVQLT R8, AX
`, 4*w.bytesPer(), 4*w.lanes, w.lanes)
	w.maskFor()
	w.clear(0)
	w.put(`
	MOVQ BX, R12
	XORQ R13, R13

onedims:
	VBROADCASTSD (SI)(R13*8), <8>
	VBROADCASTSD (DX)(R13*8), <9>
`)
	w.maskedLoad("(R12)", "<4>")
	w.put(`
	VSUBPD <4>, <8>, <4>
	VMULPD <9>, <4>, <4>
	VFMADD231PD <4>, <4>, <0>
	ADDQ R11, R12
	INCQ R13
	CMPQ R13, R10
	JLT  onedims
	VMINPD <0>, <10>, <0>
	CMPQ R8, $%d
	JLT  last
	VMOVUPD <0>, (DI)
	ADDQ $%d, DI
	ADDQ $%[2]d, BX
	SUBQ $%[1]d, R8
	JMP  one

last:
`, w.lanes, w.bytesPer())
	w.maskedStore("<0>", "(DI)")
	w.put(`
done:
	VZEROUPPER
	RET

`)
}

// moments adds Σ_j w_j (x_c - y_cj), or its square, in sixteen partial sums. The order of
// their sum is the same for all vector widths: k with k+8, then k+4, k+2, k+1.
func (w *writer) moments(name string, square bool) {
	vectors := 16 / w.lanes
	w.put(`
// func %s%s(dst, w, x, y *float64, n, d, stride int)
// DI dst, DX w, SI x, BX y, R8 n, R10 coordinates left, R11 bytes from one
// coordinate to the next, R12 the index j, R13 points left; <0> to <3> sums, <4>
// to <7> differences, <8> x_c, <10> to <13> weights.
TEXT ·%[1]s%[2]s(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ w+8(FP), DX
	MOVQ x+16(FP), SI
	MOVQ y+24(FP), BX
	MOVQ n+32(FP), R8
	MOVQ d+40(FP), R10
	MOVQ stride+48(FP), R11
	SHLQ $3, R11

coordinate:
	VBROADCASTSD (SI), <8>
`, name, w.suffix)
	for u := range vectors {
		w.clear(u)
	}
	w.put(`
	XORQ R12, R12
	MOVQ R8, R13

sixteen:
	CMPQ R13, $16
	JLT  rest
`)
	accumulate := func(u int) {
		if square {
			w.put("\tVMULPD <%d>, <%d>, <%[2]d>\n", 4+u, 10+u)
		}
		w.put("\tVFMADD231PD <%d>, <%d>, <%d>\n", 4+u, 10+u, u)
	}
	for u := range vectors {
		w.put("\tVMOVUPD %d(DX)(R12*8), <%d>\n", w.bytesPer()*u, 10+u)
		w.put("\tVSUBPD %d(BX)(R12*8), <8>, <%d>\n", w.bytesPer()*u, 4+u)
		accumulate(u)
	}
	w.put(`
	ADDQ $16, R12
	SUBQ $16, R13
	JMP  sixteen

rest:
`)
	for u := range vectors {
		w.put(`
	TESTQ R13, R13
	JLE  reduce
	MOVQ $%d, AX
	CMPQ R13, AX
	CMOVQLT R13, AX
`, w.lanes)
		w.maskFor()
		w.maskedLoad("(DX)(R12*8)", fmt.Sprintf("<%d>", 10+u))
		w.maskedLoad("(BX)(R12*8)", fmt.Sprintf("<%d>", 4+u))
		w.put("\tVSUBPD <%d>, <8>, <%[1]d>\n", 4+u)
		accumulate(u)
		w.put("\tADDQ AX, R12\n\tSUBQ AX, R13\n")
	}
	w.momentsSum()
}

// momentsSum writes the end of moments: the sum of the vectors, and the next coordinate.
func (w *writer) momentsSum() {
	w.put("\nreduce:\n")
	if w.lanes == 8 {
		w.put(`
	VADDPD Z1, Z0, Z0
	VEXTRACTF64X4 $1, Z0, Y1
	VADDPD Y1, Y0, Y0
`)
	} else {
		w.put(`
	VADDPD Y2, Y0, Y0
	VADDPD Y3, Y1, Y1
	VADDPD Y1, Y0, Y0
`)
	}
	w.put(`
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VPERMILPD $1, X0, X1
	VADDSD X1, X0, X0
	VADDSD (DI), X0, X0
	VMOVSD X0, (DI)
	ADDQ $8, DI
	ADDQ $8, SI
	ADDQ R11, BX
	DECQ R10
	JNZ  coordinate
	VZEROUPPER
	RET

`)
}

// distanceNames are the routines that distances prints, with the same arguments.
var distanceNames = []string{"sqdist", "firstMoments", "secondMoments"}
