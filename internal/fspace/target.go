package fspace

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/prior"
)

// maxExact is the most observations of which Target takes an exact account.
const maxExact = 1000

// Target returns the mean and covariance of f at the rows of c under the process
// given noisy observations y at the rows of x. Up to 1000 observations they are
// exact, in O(n³ + |C|²n); beyond, they are those of the variational sparse
// process with c as inducing points (Titsias 2009), in O(n|C|²).
//
// With m and V the two, and the rows of x among those of c,
//
//	Σ_i (y_i - f_i)²/(2σ²) + ½ (f - μ)ᵀK⁻¹(f - μ) = ½ (f - m)ᵀV⁻¹(f - m) + const.
func Target(p prior.Process, c, x *mat.Dense, y []float64) (mean []float64, cov *mat.SymDense, err error) {
	n, _ := x.Dims()
	nc, _ := c.Dims()
	mean, cov = make([]float64, nc), mat.NewSymDense(nc, nil)
	centred := make([]float64, n)
	for i, v := range y {
		centred[i] = v - p.Mean
	}
	p.Kernel.Gram(cov, c)
	kxc := mat.NewDense(n, nc, nil)
	p.Kernel.Cross(kxc, x, c)
	if n <= maxExact {
		kxx := mat.NewSymDense(n, nil)
		p.Covariance(kxx, x)
		chol, err := linalg.Factorize(kxx)
		if err != nil {
			return nil, nil, fmt.Errorf("covariance of the data: %w", err)
		}
		chol.SolveLower(kxc)
		chol.SolveLowerVec(centred)
		linalg.MulVec(mean, 1, linalg.T, kxc, centred, 0)
		linalg.Syrk(cov, -1, linalg.T, kxc, 1)
	} else {
		// V = K A⁻¹ K and m = V K⁻¹ K_CX (y-μ)/σ² with A = K + K_CX K_XC/σ².
		a := mat.NewSymDense(nc, nil)
		a.CopySym(cov)
		linalg.Syrk(a, 1/p.Noise, linalg.T, kxc, 1)
		chol, err := linalg.Factorize(a)
		if err != nil {
			return nil, nil, fmt.Errorf("covariance of the context: %w", err)
		}
		half, b := mat.NewDense(nc, nc, nil), make([]float64, nc)
		half.Copy(cov)
		chol.SolveLower(half)
		linalg.MulVec(b, 1/p.Noise, linalg.T, kxc, centred, 0)
		chol.SolveLowerVec(b)
		linalg.MulVec(mean, 1, linalg.T, half, b, 0)
		linalg.Syrk(cov, 1, linalg.T, half, 0)
	}
	for i := range mean {
		mean[i] += p.Mean
	}
	return mean, cov, nil
}
