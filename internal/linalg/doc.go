// Package linalg holds the dense linear algebra of the hot paths: Cholesky
// factors with reported jitter, solves, products, eigenvectors. All of the module's hot code
// goes through it, so that faster kernels have one place to go.
package linalg
