package network

import (
	"math"

	"github.com/functionspace/bo/internal/vecmath"
)

// Activation is an elementwise function φ. It writes the derivatives φ^(k)(z_i) to d[k][i] for
// k = 0 … len(d)-1, and φ itself for k = 0. Training and predictions need the derivatives to order
// 2, and one order more for each [Node.Along] around the activation. Several goroutines may call an
// Activation.
type Activation func(d [][]float64, z []float64)

// Tanh is tanh z, with derivatives by Leibniz' rule from t′ = 1 - t².
func Tanh(d [][]float64, z []float64) {
	vecmath.Tanh(d[0], order(d, 1), z)
	for k := 1; k+1 < len(d); k++ {
		for i := range z {
			sum, binomial := 0.0, 1.0
			for j := 0; j <= k; j++ {
				sum += binomial * d[j][i] * d[k-j][i]
				binomial *= float64(k-j) / float64(j+1)
			}
			d[k+1][i] = -sum
		}
	}
}

// ReLU is max(z, 0), with φ′(0) = 0 and higher derivatives 0.
func ReLU(d [][]float64, z []float64) {
	for k := range d {
		clear(d[k])
	}
	for i, z := range z {
		if z > 0 {
			d[0][i] = z
			if len(d) > 1 {
				d[1][i] = 1
			}
		}
	}
}

// Sin is sin z.
func Sin(d [][]float64, z []float64) {
	vecmath.Sin(d[0], order(d, 1), z)
	for k := 2; k < len(d); k++ {
		for i, v := range d[k-2] {
			d[k][i] = -v
		}
	}
}

// Erf is the error function, with φ″ = -2zφ′ and
//
//	φ^(k+2) = -2z φ^(k+1) - 2k φ^(k).
func Erf(d [][]float64, z []float64) {
	vecmath.Erf(d[0], order(d, 1), z)
	for k := 0; k+2 < len(d); k++ {
		for i, z := range z {
			d[k+2][i] = -2*z*d[k+1][i] - 2*float64(k)*d[k][i]
		}
	}
}

// GELU is zΦ(z) with Φ the normal distribution function. For k ≥ 2
//
//	φ^(k) = z Φ^(k) + k Φ^(k-1),  Φ^(k+1) = -z Φ^(k) - (k-1) Φ^(k-1).
func GELU(d [][]float64, z []float64) {
	vecmath.GELU(d[0], order(d, 1), z)
	for i, z := range z {
		before, at := math.Exp(-z*z/2)/math.Sqrt(2*math.Pi), 0.0 // Φ^(k-1) and Φ^(k)
		at = -z * before
		for k := 2; k < len(d); k++ {
			d[k][i] = z*at + float64(k)*before
			before, at = at, -z*at-float64(k-1)*before
		}
	}
}

// order returns d[k], or nil if there are not as many derivatives.
func order(d [][]float64, k int) []float64 {
	if k < len(d) {
		return d[k]
	}
	return nil
}
