// Package dense has products, triangular solves and Cholesky factors of row-major
// float64 matrices, in Go and generated Go assembly, at the speed of the processor.
//
// # Kernels
//
// One micro-kernel computes all level-3 routines. It keeps a tile of C (8×16 numbers on
// AVX-512, 4×12 on AVX2) in registers while k runs. It reads A with two strides and B by
// rows, so that small matrices need no packing. Large matrices are first copied into
// strips, in blocks of at most 192 rows, 2016 columns and 256 terms (Goto and van de
// Geijn 2008; Van Zee and van de Geijn 2015). Narrower tiles, with a mask on the last
// vector, are further loops of the same kernel, so no memory outside the operands is
// accessed.
//
// Go code has too few registers for such tiles. The Go kernel runs along two rows of C,
// up to 48 numbers each, and adds four terms of k in one pass. It computes small products,
// and products with few rows and rows of Bᵀ, entry by entry.
//
// A second kernel solves triangles of size 8. Further kernels transpose four rows, copy
// short rows, and compute dot products and an axpy. One kernel multiplies four rows of a
// symmetric matrix and reads them once. Package internal/cpu selects the set of kernels. The
// package gen writes the assembly, and its functions document the registers.
//
// # Numbers
//
// Every entry of a product is a sum over passes of 256 terms. A pass is one chain of
// fused multiply-adds over k, followed by one of alpha, the sum and the entry.
// Recursions divide triangles at multiples of 64, and end in steps of 8. None of this
// depends on tiles, packing, goroutines or the instruction set. Results are the same to
// the last bit on AVX2 and AVX-512 and with any GOMAXPROCS. An entry of a product does
// not depend on the other rows and columns. The Go kernels follow the same plan. If the
// compiler emits fused multiply-adds (arm64, GOAMD64=v3 and others), their level-3
// results have the same bits; otherwise each product is rounded.
//
// NaN and infinities propagate: 0·∞ is NaN, and zeros are never skipped. With alpha = 0
// the operands are not read, with beta = 0 the old result is not read. Triangular
// routines read only their triangle.
//
// # Safety
//
// Exported functions validate shapes and lengths, and panic with both. Before each call
// of assembly, Go code indexes the last number that the call accesses. A call of assembly
// takes microseconds at most, because it cannot be preempted.
//
// Work above four million flops is divided among goroutines, up to GOMAXPROCS.
package dense
