// Package linalg has the dense linear algebra of the module: Cholesky factors with
// reported jitter, solves, products and eigenvectors. The other packages call linalg
// for all expensive linear algebra, so that faster kernels are added here.
package linalg
