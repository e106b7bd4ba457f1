// Package cpu says which vector instructions the hand-made kernels may use.
//
// The environment variable BO_KERNEL lowers the choice: "avx2" leaves AVX-512
// aside and "go" leaves all assembly aside. It never raises it. The build tag
// noasm, and every architecture but amd64, mean Go.
package cpu
