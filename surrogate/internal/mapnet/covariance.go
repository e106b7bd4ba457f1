package mapnet

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/surrogate/internal/linearized"
)

// dualCovariance is (I - Jᵀ(Θ + ρI)⁻¹J)/δ. A point costs O(nΣ_l h_l + n²).
type dualCovariance struct {
	tape *nn.Tape
	chol *linalg.Cholesky // factor of Θ + ρI
	h    Hypers
}

func (c *dual) Covariance(h Hypers) (linearized.Covariance, error) {
	chol, _, _, err := ridged(c.a, h.rho())
	if err != nil {
		return nil, err
	}
	return &dualCovariance{c.tape, chol, h}, nil
}

func (c *dualCovariance) At(t *nn.Tape) linearized.Moments { return dualMoments{c, t} }

// dualMoments are the moments at the rows x of a tape.
type dualMoments struct {
	*dualCovariance
	t *nn.Tape
}

// cross returns Θ(X,x).
func (c dualMoments) cross() *mat.Dense {
	k := mat.NewDense(c.tape.Len(), c.t.Len(), nil)
	nn.Kernel(k, c.tape, c.t)
	return k
}

func (c dualMoments) Variance(dst []float64) {
	nn.KernelDiag(dst, c.t)
	k := c.cross()
	c.chol.SolveLower(k)
	linalg.SubColumnSquares(dst, k)
	for i := range dst {
		dst[i] = max(dst[i], 0) / c.h.Precision
	}
}

func (c dualMoments) VarianceVJP(dx *mat.Dense, bar []float64) {
	k := c.cross()
	c.chol.Solve(k)
	kbar, direct := mat.DenseCopyOf(k.T()), make([]float64, len(bar))
	for i, b := range bar {
		direct[i] = b / c.h.Precision
		floats.Scale(-2*direct[i], kbar.RawRowView(i))
	}
	nn.KernelDiagVJP(dx, c.t, direct)
	nn.KernelVJP(dx, c.t, c.tape, kbar)
}

func (c dualMoments) Joint(dst *mat.SymDense) {
	nn.KernelSym(dst, c.t)
	k := c.cross()
	c.chol.SolveLower(k)
	linalg.Syrk(dst, -1/c.h.Precision, linalg.T, k, 1/c.h.Precision)
	for i := range c.t.Len() {
		dst.SetSym(i, i, max(dst.At(i, i), 0))
	}
}

func (c dualMoments) JointVJP(dx *mat.Dense, bar *mat.SymDense) {
	k := c.cross()
	c.chol.Solve(k)
	m := c.t.Len()
	full, kbar := mat.DenseCopyOf(bar), mat.NewDense(m, c.tape.Len(), nil)
	linalg.Mul(kbar, -2/c.h.Precision, linalg.N, full, linalg.T, k, 0)
	direct := mat.NewSymDense(m, nil)
	direct.ScaleSym(1/c.h.Precision, bar)
	nn.KernelSymVJP(dx, c.t, direct)
	nn.KernelVJP(dx, c.t, c.tape, kbar)
}

// Draw corrects a draw of the prior towards noise at the observations.
func (c *dualCovariance) Draw(rng *rand.Rand) []float64 {
	e := make([]float64, c.tape.NumParams())
	for i := range e {
		e[i] = rng.NormFloat64() / math.Sqrt(c.h.Precision)
	}
	a := make([]float64, c.tape.Len())
	c.tape.JVP(a, e)
	for i := range a {
		a[i] = -a[i] + math.Sqrt(c.h.Noise)*rng.NormFloat64()
	}
	c.chol.SolveVec(a)
	c.tape.VJP(e, a)
	return e
}

func (c *dualCovariance) Matrix(weights int) *mat.SymDense {
	half, cov := c.tape.NewJacobian(), mat.NewSymDense(weights, nil)
	c.chol.SolveLower(half)
	linalg.Syrk(cov, -1/c.h.Precision, linalg.T, half, 0)
	linalg.AddDiagonal(cov, 1/c.h.Precision)
	return cov
}

// root is S with S Sᵀ = Σ, acting on the rows of matrices with p columns.
type root interface {
	right(phi *mat.Dense) // φ ← φ S
	left(phi *mat.Dense)  // φ ← φ Sᵀ
}

// rootCovariance is a root as a linearized.Root of one block.
type rootCovariance struct {
	root
	weights int
}

func (c rootCovariance) Features(j *mat.Dense) []*mat.Dense {
	c.right(j)
	return []*mat.Dense{j}
}

func (c rootCovariance) Weights(phi []*mat.Dense) *mat.Dense {
	c.left(phi[0])
	return phi[0]
}

func (c rootCovariance) Draw(rng *rand.Rand) []float64 {
	e := mat.NewDense(1, c.weights, nil)
	random.Normal(e.RawRowView(0), rng)
	c.left(e)
	return e.RawRowView(0)
}

// primalRoot is σL⁻ᵀ with L Lᵀ = G + ρI.
type primalRoot struct {
	chol *linalg.Cholesky
	sd   float64
}

func (c *primal) Covariance(h Hypers) (linearized.Covariance, error) {
	chol, _, _, err := ridged(c.a, h.rho())
	if err != nil {
		return nil, err
	}
	return linearized.ByRoot{Root: rootCovariance{primalRoot{chol, math.Sqrt(h.Noise)}, chol.N()}}, nil
}

func (r primalRoot) right(phi *mat.Dense) { r.apply(phi, r.chol.SolveLower) }
func (r primalRoot) left(phi *mat.Dense)  { r.apply(phi, r.chol.SolveUpper) }

func (r primalRoot) apply(phi *mat.Dense, solve func(*mat.Dense)) {
	t := mat.DenseCopyOf(phi.T())
	solve(t)
	phi.Copy(t.T())
	phi.Scale(r.sd, phi)
}

// diagonalRoot is a diagonal S.
type diagonalRoot []float64

func (c *diagonal) Covariance(h Hypers) (linearized.Covariance, error) {
	s := make(diagonalRoot, len(c.d))
	for k, d := range c.d {
		s[k] = 1 / math.Sqrt(h.Precision+d/h.Noise)
	}
	return linearized.ByRoot{Root: rootCovariance{s, len(s)}}, nil
}

func (r diagonalRoot) right(phi *mat.Dense) { linalg.ScaleColumns(phi, phi, r) }
func (r diagonalRoot) left(phi *mat.Dense)  { r.right(phi) }

// kronRoot is (U_a⊗U_b)·diag(scale) for each layer.
type kronRoot []kronLayer // value holds the scales

func (c *kron) Covariance(h Hypers) (linearized.Covariance, error) {
	r, weights := make(kronRoot, len(c.layers)), 0
	for l, layer := range c.layers {
		r[l] = layer
		r[l].value = mat.DenseCopyOf(layer.value)
		data := r[l].value.RawMatrix().Data
		for i, v := range data {
			data[i] = 1 / math.Sqrt(h.Precision+v/h.Noise)
		}
		weights += len(data)
	}
	return linearized.ByRoot{Root: rootCovariance{r, weights}}, nil
}

func (r kronRoot) right(phi *mat.Dense) {
	r.each(phi, func(l kronLayer, m, tmp *mat.Dense) {
		linalg.Mul(tmp, 1, linalg.N, l.a, linalg.N, m, 0)
		linalg.Mul(m, 1, linalg.N, tmp, linalg.T, l.b, 0)
		m.MulElem(m, l.value)
	})
}

func (r kronRoot) left(phi *mat.Dense) {
	r.each(phi, func(l kronLayer, m, tmp *mat.Dense) {
		m.MulElem(m, l.value)
		linalg.Mul(tmp, 1, linalg.T, l.a, linalg.N, m, 0)
		linalg.Mul(m, 1, linalg.N, tmp, linalg.N, l.b, 0)
	})
}

// each calls f for each layer and row, with the part of the row that belongs to the layer.
// The part is a matrix with a row for each input and one for the bias.
func (r kronRoot) each(phi *mat.Dense, f func(l kronLayer, m, tmp *mat.Dense)) {
	n, _ := phi.Dims()
	at := 0
	for _, l := range r {
		a, b := l.value.Dims()
		tmp := mat.NewDense(a, b, nil)
		for i := range n {
			f(l, mat.NewDense(a, b, phi.RawRowView(i)[at:at+a*b]), tmp)
		}
		at += a * b
	}
}
