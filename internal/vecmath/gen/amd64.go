package main

import (
	"bytes"
	"fmt"
	"slices"
)

// target is an instruction set.
type target struct {
	suffix string
	reg    string // register prefix
	regs   int
	lanes  int
}

var (
	avx2   = target{"AVX2", "Y", 16, 4}
	avx512 = target{"AVX512", "Z", 32, 8}
)

// table collects the constants of all programs. Each constant is stored four times in a
// row, so that it can be an AVX2 operand; AVX-512 broadcasts the first copy.
type table struct {
	at   map[uint64]int
	list []uint64
}

func (t *table) offset(bits uint64) int {
	i, ok := t.at[bits]
	if !ok {
		i = len(t.list)
		t.at[bits] = i
		t.list = append(t.list, bits)
	}
	return 32 * i
}

// function prints one program for one target. It interleaves the instructions of unroll
// copies of the program.
type function struct {
	bytes.Buffer
	target
	p      *program
	consts *table
	unroll int

	free  []int // vector registers
	masks []int // AVX-512 mask registers
	where [][]int
	last  []int
	spent bool // the registers do not suffice
}

func (f *function) line(format string, args ...any) { fmt.Fprintf(f, "\t"+format+"\n", args...) }

func (f *function) name(r int) string { return fmt.Sprintf("%s%d", f.reg, r) }

// take returns a free register.
func (f *function) take() int {
	if len(f.free) == 0 {
		f.spent = true
		return 0
	}
	r := f.free[0]
	f.free = f.free[1:]
	return r
}

func (f *function) give(r int) {
	f.free = append(f.free, r)
	slices.Sort(f.free)
}

func (f *function) wide(n *node) bool { return !n.isMask() || f.lanes == 4 }

// takeFor returns a register for the result of n.
func (f *function) takeFor(n *node) int {
	if f.wide(n) {
		return f.take()
	}
	r := f.masks[0]
	f.masks = f.masks[1:]
	return r
}

// memory returns the operand of a constant.
func (f *function) memory(n *node) string { return fmt.Sprintf("%d(R8)", f.consts.offset(n.bits)) }

func (f *function) suffixFor(operand *node) string {
	if operand.isConst() && f.lanes == 8 {
		return ".BCST"
	}
	return ""
}

// body emits the program.
func (f *function) body() {
	f.last = f.p.lastUse()
	for i, n := range f.p.nodes {
		if n.op == opInput {
			continue
		}
		// Constants that cannot be memory operands of this instruction.
		loaded := map[*node]int{}
		for _, c := range f.needed(n) {
			r := f.take()
			f.line("VBROADCASTSD %s, %s", f.memory(c), f.name(r))
			loaded[c] = r
		}
		for u := range f.unroll {
			f.instruction(i, n, u, loaded)
		}
		for _, r := range loaded {
			f.give(r)
		}
	}
}

// needed returns the constants of n that must be in a register.
func (f *function) needed(n *node) []*node {
	if len(n.args) == 0 {
		return nil
	}
	var out []*node
	add := func(c *node) {
		if c.isConst() && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	a := n.args
	switch n.op {
	case opAdd, opMul, opAnd, opOr, opXor, opAddInt: // the second, after a swap, may be memory
		if a[1].isConst() {
			add(a[0])
		}
	case opFMA, opFNMA: // one of the three may be memory
		kept := false
		for _, c := range []*node{a[2], a[1], a[0]} {
			if c.isConst() && kept {
				add(c)
			}
			kept = kept || c.isConst()
		}
	case opSelect: // the first choice may be memory
		add(a[2])
	case opScale:
		add(a[0])
		if f.lanes == 4 {
			add(f.p.c(1))
		}
	default:
		add(a[0])
	}
	return out
}

// binary has the instructions of operations on two operands.
var binary = map[op]string{
	opAdd: "VADDPD", opMul: "VMULPD", opAnd: "VANDPD", opOr: "VORPD", opXor: "VXORPD", opAddInt: "VPADDQ",
	opSub: "VSUBPD", opDiv: "VDIVPD", opMin: "VMINPD", opMax: "VMAXPD",
}

func commutes(o op) bool {
	return o == opAdd || o == opMul || o == opAnd || o == opOr || o == opXor || o == opAddInt
}

// instruction emits n for copy u.
func (f *function) instruction(i int, n *node, u int, loaded map[*node]int) {
	place := func(a *node) string {
		if a.isConst() {
			if r, ok := loaded[a]; ok {
				return f.name(r)
			}
			return f.memory(a)
		}
		if f.wide(a) {
			return f.name(f.where[u][a.index])
		}
		return fmt.Sprintf("K%d", f.where[u][a.index])
	}
	inMemory := func(a *node) bool { _, ok := loaded[a]; return a.isConst() && !ok }
	bcst := func(a *node) string {
		if inMemory(a) {
			return f.suffixFor(a)
		}
		return ""
	}
	dies := func(a *node) bool { return !a.isConst() && f.last[a.index] == i }
	// Registers of operands with no later use are free for the result, except in the
	// instruction sequences of scale.
	release := func() {
		done := map[*node]bool{}
		for _, a := range n.args {
			if dies(a) && !done[a] {
				done[a] = true
				if f.wide(a) {
					f.give(f.where[u][a.index])
				} else {
					f.masks = append(f.masks, f.where[u][a.index])
				}
			}
		}
	}
	a := n.args
	switch n.op {
	case opAdd, opMul, opAnd, opOr, opXor, opAddInt, opSub, opDiv, opMin, opMax:
		x, y := a[0], a[1]
		if inMemory(x) && commutes(n.op) {
			x, y = y, x
		}
		xs, ys := place(x), place(y)
		release()
		d := f.take()
		f.where[u][i] = d
		f.line("%s%s %s, %s, %s", binary[n.op], bcst(y), ys, xs, f.name(d))
	case opSqrt:
		xs := place(a[0])
		release()
		d := f.take()
		f.where[u][i] = d
		f.line("VSQRTPD %s, %s", xs, f.name(d))
	case opShr, opShl:
		xs := place(a[0])
		release()
		d := f.take()
		f.where[u][i] = d
		f.line("%s $%d, %s, %s", map[op]string{opShr: "VPSRLQ", opShl: "VPSLLQ"}[n.op], n.shift, xs, f.name(d))
	case opFMA, opFNMA:
		f.fused(i, n, u, place, inMemory, dies, release)
	case opLess, opEqual, opBeyond:
		f.compare(i, n, u, place, bcst, release)
	case opSelect:
		m, x, y := place(a[0]), place(a[1]), place(a[2])
		release()
		d := f.take()
		f.where[u][i] = d
		if f.lanes == 8 {
			f.line("VBLENDMPD%s %s, %s, %s, %s", bcst(a[1]), x, y, m, f.name(d))
		} else {
			f.line("VBLENDVPD %s, %s, %s, %s", m, x, y, f.name(d))
		}
	case opScale:
		f.power(i, n, u, place, loaded, release)
	}
}

// compare writes a comparison, whose result is a mask.
func (f *function) compare(i int, n *node, u int, place, bcst func(*node) string, release func()) {
	predicate := map[op]int{opLess: 17, opEqual: 0, opBeyond: 22}[n.op] // LT_OQ, EQ_OQ, NLE_UQ
	xs, ys := place(n.args[0]), place(n.args[1])
	release()
	d := f.takeFor(n)
	f.where[u][i] = d
	name := f.name(d)
	if f.lanes == 8 {
		name = fmt.Sprintf("K%d", d)
	}
	f.line("VCMPPD%s $%d, %s, %s, %s", bcst(n.args[1]), predicate, ys, xs, name)
}

// fused selects one of the three forms of FMA, which overwrite different operands: 231
// the addend, 213 and 132 a factor.
func (f *function) fused(i int, n *node, u int, place func(*node) string, inMemory, dies func(*node) bool, release func()) {
	a, b, c := n.args[0], n.args[1], n.args[2]
	op := "VFMADD"
	if n.op == opFNMA {
		op = "VFNMADD"
	}
	if inMemory(a) {
		a, b = b, a
	}
	suffix := ""
	if inMemory(a) || inMemory(b) || inMemory(c) {
		suffix = f.suffixFor(f.p.c(0))
	}
	as, bs, cs := place(a), place(b), place(c)
	overwrite := func(old *node) string {
		// The register of old, or a copy if old has later or other uses.
		uses := 0
		for _, x := range n.args {
			if x == old {
				uses++
			}
		}
		if dies(old) && uses == 1 {
			name := place(old)
			for _, x := range n.args {
				if x != old && dies(x) && !f.alreadyFree(f.where[u][x.index]) {
					f.give(f.where[u][x.index])
				}
			}
			f.where[u][i] = f.where[u][old.index]
			return name
		}
		d := f.take()
		f.line("VMOVAPD %s, %s", place(old), f.name(d))
		release()
		f.where[u][i] = d
		return f.name(d)
	}
	switch {
	case inMemory(c):
		if !dies(a) && dies(b) {
			a, b, as, bs = b, a, bs, as
		}
		f.line("%s213PD%s %s, %s, %s", op, suffix, cs, bs, overwrite(a))
	case inMemory(b):
		if dies(c) {
			f.line("%s231PD%s %s, %s, %s", op, suffix, bs, as, overwrite(c))
		} else {
			f.line("%s132PD%s %s, %s, %s", op, suffix, bs, cs, overwrite(a))
		}
	case c.isConst() || !dies(c) && (dies(a) || dies(b)):
		if !dies(a) {
			a, b, as, bs = b, a, bs, as
		}
		f.line("%s213PD %s, %s, %s", op, cs, bs, overwrite(a))
	default:
		f.line("%s231PD %s, %s, %s", op, bs, as, overwrite(c))
	}
}

func (f *function) alreadyFree(r int) bool { return slices.Contains(f.free, r) }

// power emits a·2ⁿ. AVX2 multiplies by 2^⌊n/2⌋ and 2^(n-⌊n/2⌋); only the second product
// rounds.
func (f *function) power(i int, n *node, u int, place func(*node) string, loaded map[*node]int, release func()) {
	x, count, biased := place(n.args[0]), place(n.args[1]), place(n.args[2])
	if f.lanes == 8 {
		release()
		d := f.take()
		f.where[u][i] = d
		f.line("VSCALEFPD %s, %s, %s", count, x, f.name(d))
		return
	}
	one := f.name(loaded[f.p.c(1)])
	r, s := f.take(), f.take()
	d, e := f.name(r), f.name(s)
	f.line("VPSRAD $1, %s, %s", biased, d)
	f.line("VPSUBQ %s, %s, %s", d, biased, e)
	f.line("VPSLLQ $52, %s, %s", d, d)
	f.line("VPADDQ %s, %s, %s", one, d, d)
	f.line("VPSLLQ $52, %s, %s", e, e)
	f.line("VPADDQ %s, %s, %s", one, e, e)
	f.line("VMULPD %s, %s, %s", x, d, d)
	f.line("VMULPD %s, %s, %s", e, d, d)
	f.give(s)
	release()
	f.where[u][i] = r
}

// print emits the whole function, or returns false if registers do not suffice. DI, DX
// and SI point to outputs and input, CX counts remaining elements, R8 points to the
// constants. The last elements use the same code with masks: K1 and K2, or the memory at
// R9.
func (f *function) print() bool {
	outs := []string{"DI", "DX"}[:len(f.p.outs)]
	step := f.lanes * f.unroll
	fmt.Fprintf(f, "// func %s%s(%s, x *float64, n int)\n", f.p.name, f.suffix, []string{"dst", "dst, slope"}[len(outs)-1])
	fmt.Fprintf(f, "TEXT ·%s%s(SB), NOSPLIT, $0-%d\n", f.p.name, f.suffix, 8*(len(outs)+2))
	f.line("MOVQ dst+0(FP), DI")
	if len(outs) == 2 {
		f.line("MOVQ slope+8(FP), DX")
	}
	f.line("MOVQ x+%d(FP), SI", 8*len(outs))
	f.line("MOVQ n+%d(FP), CX", 8*len(outs)+8)
	f.line("LEAQ ·constants(SB), R8")
	for r := range f.regs {
		f.free = append(f.free, r)
	}
	f.masks = []int{3, 4, 5, 6, 7}
	f.where = make([][]int, f.unroll)
	for u := range f.where {
		f.where[u] = make([]int, len(f.p.nodes))
		f.where[u][0] = f.take()
	}

	f.label("loop")
	f.line("CMPQ CX, $%d", step)
	f.line("JLT  tail")
	for u := range f.where {
		f.line("VMOVUPD %d(SI), %s", 8*f.lanes*u, f.name(f.where[u][0]))
	}
	var masked bytes.Buffer // built before body, which moves the inputs
	masked, f.Buffer = f.Buffer, masked
	f.maskedLoads()
	masked, f.Buffer = f.Buffer, masked

	f.label("compute")
	f.body()
	f.line("CMPQ CX, $%d", step)
	f.line("JLT  storetail")
	for k, o := range f.p.outs {
		for u := range f.where {
			f.line("VMOVUPD %s, %d(%s)", f.name(f.where[u][o.index]), 8*f.lanes*u, outs[k])
		}
	}
	f.line("ADDQ $%d, SI", 8*step)
	for _, o := range outs {
		f.line("ADDQ $%d, %s", 8*step, o)
	}
	f.line("SUBQ $%d, CX", step)
	f.line("JMP  loop")

	f.label("tail")
	f.line("TESTQ CX, CX")
	f.line("JZ   done")
	f.Write(masked.Bytes())
	f.line("JMP  compute")

	f.label("storetail")
	f.maskedStores(outs)
	f.label("done")
	f.line("VZEROUPPER")
	f.line("RET")
	f.WriteString("\n")
	return !f.spent
}

func (f *function) label(name string) { fmt.Fprintf(f, "\n%s:\n", name) }

func (f *function) maskedLoads() {
	if f.lanes == 8 {
		f.line("MOVL $1, AX")
		f.line("SHLL CX, AX")
		f.line("DECL AX")
	} else {
		f.line("LEAQ ·tailMask(SB), R9")
		f.line("MOVQ CX, AX")
		f.line("NEGQ AX")
	}
	for u := range f.where {
		in, at := f.name(f.where[u][0]), 8*f.lanes*u
		if f.lanes == 8 {
			f.line("KMOVW AX, K%d", u+1)
			f.line("SHRL $8, AX")
			f.line("VMOVUPD.Z %d(SI), K%d, %s", at, u+1, in)
			continue
		}
		f.line("VMOVDQU %d(R9)(AX*8), %s", maskLanes*8+at, in)
		f.line("VMASKMOVPD %d(SI), %s, %s", at, in, in)
	}
}

func (f *function) maskedStores(outs []string) {
	for u := range f.where {
		at, mask := 8*f.lanes*u, fmt.Sprintf("K%d", u+1)
		if f.lanes == 4 {
			mask = f.name(f.take())
			f.line("VMOVDQU %d(R9)(AX*8), %s", maskLanes*8+at, mask)
		}
		for k, o := range f.p.outs {
			v := f.name(f.where[u][o.index])
			if f.lanes == 4 {
				f.line("VMASKMOVPD %s, %s, %d(%s)", v, mask, at, outs[k])
			} else {
				f.line("VMOVUPD %s, %s, %d(%s)", v, mask, at, outs[k])
			}
		}
	}
}

// maskLanes is the longest tail, rounded up.
const maskLanes = 16

// assembly prints the programs for a target, each with two interleaved copies if
// registers suffice.
func assembly(all []*program, t target, consts *table) []byte {
	var b bytes.Buffer
	b.WriteString(header("!noasm"))
	b.WriteString("#include \"textflag.h\"\n\n")
	for _, p := range all {
		for unroll := 2; unroll > 0; unroll-- {
			f := &function{target: t, p: p, consts: consts, unroll: unroll}
			if f.print() {
				b.Write(f.Bytes())
				break
			}
			if unroll == 1 {
				panic(p.name + " needs too many registers")
			}
		}
	}
	return b.Bytes()
}

// constants prints the table.
func constants(t *table) []byte {
	var b bytes.Buffer
	b.WriteString(header("!noasm"))
	b.WriteString("#include \"textflag.h\"\n\n")
	for i, bits := range t.list {
		for k := range 4 {
			fmt.Fprintf(&b, "DATA ·constants+%d(SB)/8, $%#016x\n", 32*i+8*k, bits)
		}
	}
	fmt.Fprintf(&b, "GLOBL ·constants(SB), RODATA|NOPTR, $%d\n\n", 32*len(t.list))
	for i := range maskLanes {
		fmt.Fprintf(&b, "DATA ·tailMask+%d(SB)/8, $-1\n", 8*i)
	}
	for i := range maskLanes {
		fmt.Fprintf(&b, "DATA ·tailMask+%d(SB)/8, $0\n", 8*(maskLanes+i))
	}
	fmt.Fprintf(&b, "GLOBL ·tailMask(SB), RODATA|NOPTR, $%d\n", 16*maskLanes)
	return b.Bytes()
}
