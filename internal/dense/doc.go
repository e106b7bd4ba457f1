// Package dense holds dense linear algebra at the speed of the processor:
// products, triangular solves and Cholesky factors of row-major float64
// matrices, in Go and generated Go assembly.
//
// # Kernels
//
// One micro-kernel carries everything of level 3: a tile of C (8×16 numbers on
// AVX-512, 4×12 on AVX2) is kept in registers while k runs. It reads A by two
// strides and B by rows, so that small matrices need no packing; large ones are
// copied into strips first, block by block of at most 192 rows, 2016 columns and
// 256 terms (Goto and van de Geijn 2008; Van Zee and van de Geijn 2015). Narrower
// tiles, with a mask on the last vector, are further loops of the same kernel, so
// nothing outside the operands is touched. Go has too few registers for that: its
// kernel runs along two rows of C, up to 48 numbers each, and adds four terms of k
// in one pass; small products, and those of few rows and rows of Bᵀ, it takes entry
// by entry. A second kernel solves triangles of size 8; the rest is a
// transposition of four rows, a copy of short rows, dot products, an axpy, and a
// product of four rows of a symmetric matrix that reads them once.
// internal/cpu says which set is used; gen writes the assembly, and its functions
// hold the register plans.
//
// # Numbers
//
// Every entry of a product is a sum over passes of 256 terms. A pass is one
// chain of fused multiply-adds over k, then one of alpha, that sum and the
// entry. Recursions cut triangles at multiples of 64, and end in steps of 8.
// None of this depends on tiles, packing, goroutines or the instruction set:
// results are the same to the last bit on AVX2 and AVX-512 and with any
// GOMAXPROCS, and an entry of a product is the same whatever other rows and
// columns are computed with it. The Go kernels follow the same plan; where the
// compiler has fused multiply-adds for certain (arm64, GOAMD64=v3 and others)
// their level 3 gives the same bits too, elsewhere each product is rounded.
//
// NaN and infinities propagate as written: 0·∞ is NaN, and zeros are never
// skipped. With a factor alpha = 0 the operands are not read, with beta = 0 the
// old result is not. Triangular routines read only their triangle.
//
// # Safety
//
// Exported functions check shapes and lengths and panic with both; before each
// call of assembly the last number that it will touch is indexed in Go. Calls
// of assembly last microseconds at most, since it cannot be preempted.
//
// Work above four million flops is split among goroutines, up to GOMAXPROCS.
package dense
