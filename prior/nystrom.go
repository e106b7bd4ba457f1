package prior

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
)

// nystrom is φ(x) = L⁻¹ k(Z,x) with L Lᵀ = k(Z,Z).
type nystrom struct {
	kernel Kernel
	z      *mat.Dense
	chol   *linalg.Cholesky
}

// Nystrom returns the features L⁻¹k(z,x), L Lᵀ = k(z,z), one per row of z. A function
// drawn from them is an exact draw at z. At other points it is the conditional mean
// given the values at z. The features cost O(n³/3), and O(n²) per point.
func Nystrom(k Kernel, z *mat.Dense) (Features, error) {
	n, _ := z.Dims()
	gram := mat.NewSymDense(n, nil)
	k.Gram(gram, z)
	chol, err := linalg.Factorize(gram)
	if err != nil {
		return nil, fmt.Errorf("prior: features of %s: %w", k, err)
	}
	return nystrom{k, z, chol}, nil
}

func (f nystrom) Dim() int { return f.kernel.Dim() }
func (f nystrom) Len() int { return f.chol.N() }

func (f nystrom) Eval(phi, x *mat.Dense) {
	m, _ := x.Dims()
	cross := mat.NewDense(f.Len(), m, nil)
	f.kernel.Cross(cross, f.z, x)
	f.chol.SolveLower(cross)
	phi.Copy(cross.T())
}

func (f nystrom) EvalVJP(dx, x, phibar *mat.Dense) {
	back := mat.DenseCopyOf(phibar.T())
	f.chol.SolveUpper(back)
	f.kernel.CrossVJP(dx, x, f.z, mat.DenseCopyOf(back.T()))
}

// kronecker returns n points of the additive sequence u + i·(1/g, 1/g², …) mod 1 with a uniform u. The number g
// is the root of g^{d+1} = g + 1 (Roberts 2018).
func kronecker(n, d int, rng *rand.Rand) *mat.Dense {
	g := 2.0
	for range 64 {
		g = math.Pow(1+g, 1/float64(d+1))
	}
	x, step := mat.NewDense(n, d, nil), 1.0
	for j := range d {
		step /= g
		u := rng.Float64()
		for i := range n {
			_, x.RawRowView(i)[j] = math.Modf(u + float64(i)*step)
		}
	}
	return x
}
