// Package cpu selects the vector instructions for hand-written kernels.
//
// The environment variable BO_KERNEL lowers the level: "avx2" excludes AVX-512 and
// "go" excludes all assembly. It never raises the level. With the build tag noasm, and
// on every architecture except amd64, the level is Go.
package cpu
