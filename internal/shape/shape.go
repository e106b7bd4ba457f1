// Package shape checks the sizes of what packages of this module hand to each
// other. A wrong size is a mistake of ours: it panics with what was got and what
// was wanted.
package shape

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Len panics unless the slice called name has the length wanted.
func Len(name string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("%s has length %d, want %d", name, got, want))
	}
}

// Dims panics unless the matrix called name is r×c.
func Dims(name string, a mat.Matrix, r, c int) {
	if ar, ac := a.Dims(); ar != r || ac != c {
		panic(fmt.Sprintf("%s is %d×%d, want %d×%d", name, ar, ac, r, c))
	}
}

// Points returns the number of rows of x and panics unless each has dim columns.
func Points(x *mat.Dense, dim int) int {
	n, d := x.Dims()
	if d != dim {
		panic(fmt.Sprintf("points of %d inputs, want %d", d, dim))
	}
	return n
}

// Chunks calls f for rows i to k of x, at most size of them at a time, in order.
func Chunks(x *mat.Dense, size int, f func(i, k int, x *mat.Dense)) {
	n, d := x.Dims()
	for i := 0; i < n; i += size {
		k, part := min(n, i+size), x
		if k-i < n {
			part = x.Slice(i, k, 0, d).(*mat.Dense)
		}
		f(i, k, part)
	}
}
