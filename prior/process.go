package prior

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// Process is a Gaussian-process prior with observation noise:
//
//	f ~ GP(Mean, Kernel),  y = f(x) + N(0, Noise)
type Process struct {
	Kernel Kernel
	Mean   float64
	Noise  float64 // variance
}

// Covariance writes K + Noise·I at the rows of x.
func (p Process) Covariance(dst *mat.SymDense, x *mat.Dense) {
	p.Kernel.Gram(dst, x)
	addDiag(dst, p.Noise)
}

// LogMarginal returns log N(y; Mean·1, K + Noise·I) in nats. It costs O(n³/3).
func (p Process) LogMarginal(x *mat.Dense, y []float64) (float64, error) {
	n, _ := x.Dims()
	checkLen("y", len(y), n)
	k := mat.NewSymDense(n, nil)
	p.Covariance(k, x)
	chol, err := linalg.Factorize(k)
	if err != nil {
		return math.NaN(), fmt.Errorf("prior: %w", err)
	}
	r := append([]float64(nil), y...)
	floats.AddConst(-p.Mean, r)
	chol.SolveLowerVec(r)
	return gaussianLog(floats.Dot(r, r), chol.LogDet(), n), nil
}

// WhiteAsNoise returns p for a model whose functions have no white noise: the kernel without its white noise, with the
// variance of this noise, averaged over the rows of x, added to Noise. The covariance of observations does not change if
// this variance is constant. A kernel of white noise alone, and kernels of other packages, stay as they are.
func (p Process) WhiteAsNoise(x *mat.Dense) Process {
	rest, found := withoutWhite(p.Kernel)
	if !found || rest == nil {
		return p
	}
	n, _ := x.Dims()
	all, part := make([]float64, n), make([]float64, n)
	p.Kernel.Diag(all, x)
	rest.Diag(part, x)
	floats.Sub(all, part)
	p.Kernel, p.Noise = rest, p.Noise+max(0, linalg.Mean(all))
	return p
}

// withoutWhite returns the kernel whose Gram matrix is k.Cross, nil for 0, and reports whether it differs from k.
func withoutWhite(k Kernel) (rest Kernel, found bool) {
	each := func(ks []Kernel) (out []Kernel) {
		for _, k := range ks {
			part, changed := withoutWhite(k)
			if found = found || changed; part != nil {
				out = append(out, part)
			}
		}
		return out
	}
	switch k := k.(type) {
	case white:
		return nil, true
	case scaled:
		if k.inner, found = withoutWhite(k.inner); k.inner == nil {
			return nil, true
		}
		return k, found
	case onInputs:
		if k.inner, found = withoutWhite(k.inner); k.inner == nil {
			return nil, true
		}
		return k, found
	case sum:
		if terms := each(k.terms); len(terms) > 0 {
			return Sum(terms...), found
		}
		return nil, true
	case product:
		if factors := each(k.factors); len(factors) == len(k.factors) {
			return Product(factors...), found
		}
		return nil, true
	}
	return k, false
}

// gaussianLog returns the log density of a Gaussian with the given Mahalanobis
// distance squared and log determinant.
func gaussianLog(quadratic, logDet float64, n int) float64 {
	return -0.5 * (quadratic + logDet + float64(n)*math.Log(2*math.Pi))
}

// Sample returns m exact joint draws of the latent f at the n rows of x, as
// the rows of an m×n matrix. It costs O(n³/3 + mn²).
func (p Process) Sample(m int, x *mat.Dense, rng *rand.Rand) (*mat.Dense, error) {
	n, _ := x.Dims()
	k := mat.NewSymDense(n, nil)
	p.Kernel.Gram(k, x)
	chol, err := linalg.Factorize(k)
	if err != nil {
		return nil, fmt.Errorf("prior: %w", err)
	}
	out := mat.NewDense(m, n, nil)
	for i := range m {
		row := out.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		chol.MulLowerVec(row)
		floats.AddConst(p.Mean, row)
	}
	return out, nil
}

func addDiag(k *mat.SymDense, v float64) {
	for i := range k.SymmetricDim() {
		upper(k, i)[0] += v
	}
}
