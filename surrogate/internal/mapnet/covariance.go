package mapnet

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/surrogate/internal/linearized"
)

// dualCovariance is (I - Jᵀ(Θ + ρI)⁻¹J)/δ. A point costs O(nΣ_l h_l + n²).
type dualCovariance struct {
	tape *nn.Tape
	chol *linalg.Cholesky // of Θ + ρI
	h    Hypers
}

func (c *dual) Covariance(h Hypers) (linearized.Covariance, error) {
	chol, _, _, err := ridged(c.theta, h.rho())
	if err != nil {
		return nil, err
	}
	return &dualCovariance{c.tape, chol, h}, nil
}

// At implements linearized.Covariance.
func (c *dualCovariance) At(t *nn.Tape) linearized.Moments { return dualMoments{c, t} }

// dualMoments computes the moments at the rows x of a tape.
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

// Variance implements linearized.Moments.
func (c dualMoments) Variance(dst []float64) {
	nn.KernelDiag(dst, c.t)
	k := c.cross()
	c.chol.SolveLower(k)
	for i := range c.tape.Len() {
		for j, v := range k.RawRowView(i) {
			dst[j] -= v * v
		}
	}
	for i := range dst {
		dst[i] = max(dst[i], 0) / c.h.Precision
	}
}

// VarianceVJP implements linearized.Moments.
func (c dualMoments) VarianceVJP(dx *mat.Dense, bar []float64) {
	k := c.cross()
	c.chol.Solve(k)
	kbar, direct := mat.DenseCopyOf(k.T()), make([]float64, len(bar))
	for i, b := range bar {
		direct[i] = b / c.h.Precision
		row := kbar.RawRowView(i)
		for j := range row {
			row[j] *= -2 * direct[i]
		}
	}
	nn.KernelDiagVJP(dx, c.t, direct)
	nn.KernelVJP(dx, c.t, c.tape, kbar)
}

// Joint implements linearized.Moments.
func (c dualMoments) Joint(dst *mat.SymDense) {
	nn.KernelSym(dst, c.t)
	k := c.cross()
	c.chol.SolveLower(k)
	linalg.Syrk(dst, -1/c.h.Precision, linalg.T, k, 1/c.h.Precision)
	for i := range c.t.Len() {
		dst.SetSym(i, i, max(dst.At(i, i), 0))
	}
}

// JointVJP implements linearized.Moments.
func (c dualMoments) JointVJP(dx *mat.Dense, bar *mat.SymDense) {
	k := c.cross()
	c.chol.Solve(k)
	m := c.t.Len()
	full, kbar := mat.NewDense(m, m, nil), mat.NewDense(m, c.tape.Len(), nil)
	full.Copy(bar)
	linalg.Mul(kbar, -2/c.h.Precision, linalg.N, full, linalg.T, k, 0)
	direct := mat.NewSymDense(m, nil)
	direct.ScaleSym(1/c.h.Precision, bar)
	nn.KernelSymVJP(dx, c.t, direct)
	nn.KernelVJP(dx, c.t, c.tape, kbar)
}

// Draw draws e from the prior and corrects it by Matheron's rule, with noise drawn at the
// observations as the targets.
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

// root multiplies the rows of a matrix with p columns by a square root S of Σ = S Sᵀ.
type root interface {
	right(phi *mat.Dense) // φ ← φ S
	left(phi *mat.Dense)  // φ ← φ Sᵀ
}

// rootCovariance is the covariance Σ in terms of the features J(x)S.
type rootCovariance struct {
	root
	weights int
}

// At implements linearized.Covariance.
func (c *rootCovariance) At(t *nn.Tape) linearized.Moments {
	phi := mat.NewDense(t.Len(), c.weights, nil)
	t.Jacobian(phi)
	c.right(phi)
	return rootMoments{c, t, phi}
}

// rootMoments computes moments from the features φ = J(x)S at the rows of a tape.
type rootMoments struct {
	*rootCovariance
	t   *nn.Tape
	phi *mat.Dense
}

// Variance implements linearized.Moments.
func (c rootMoments) Variance(dst []float64) {
	for i := range dst {
		row := c.phi.RawRowView(i)
		dst[i] = linalg.Dot(row, row)
	}
}

// VarianceVJP implements linearized.Moments.
func (c rootMoments) VarianceVJP(dx *mat.Dense, bar []float64) {
	for i, b := range bar {
		row := c.phi.RawRowView(i)
		for j := range row {
			row[j] *= 2 * b
		}
	}
	c.left(c.phi)
	c.t.JVPInputGradRows(dx, c.phi)
}

// Joint implements linearized.Moments.
func (c rootMoments) Joint(dst *mat.SymDense) { linalg.Syrk(dst, 1, linalg.N, c.phi, 0) }

// JointVJP implements linearized.Moments.
func (c rootMoments) JointVJP(dx *mat.Dense, bar *mat.SymDense) {
	m, _ := c.phi.Dims()
	full, fbar := mat.NewDense(m, m, nil), mat.NewDense(m, c.weights, nil)
	full.Copy(bar)
	linalg.Mul(fbar, 2, linalg.N, full, linalg.N, c.phi, 0)
	c.left(fbar)
	c.t.JVPInputGradRows(dx, fbar)
}

func (c *rootCovariance) Draw(rng *rand.Rand) []float64 {
	e := mat.NewDense(1, c.weights, nil)
	for i := range e.RawRowView(0) {
		e.RawRowView(0)[i] = rng.NormFloat64()
	}
	c.left(e)
	return e.RawRowView(0)
}

// primalRoot is σL⁻ᵀ with L Lᵀ = G + ρI.
type primalRoot struct {
	chol *linalg.Cholesky
	sd   float64
}

func (c *primal) Covariance(h Hypers) (linearized.Covariance, error) {
	chol, _, _, err := ridged(c.g, h.rho())
	if err != nil {
		return nil, err
	}
	return &rootCovariance{primalRoot{chol, math.Sqrt(h.Noise)}, chol.N()}, nil
}

func (r primalRoot) right(phi *mat.Dense) {
	t := mat.DenseCopyOf(phi.T())
	r.chol.SolveLower(t)
	phi.Copy(t.T())
	phi.Scale(r.sd, phi)
}

func (r primalRoot) left(phi *mat.Dense) {
	t := mat.DenseCopyOf(phi.T())
	r.chol.SolveUpper(t)
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
	return &rootCovariance{s, len(s)}, nil
}

func (r diagonalRoot) right(phi *mat.Dense) {
	m, _ := phi.Dims()
	for i := range m {
		for k, v := range phi.RawRowView(i) {
			phi.RawRowView(i)[k] = v * r[k]
		}
	}
}

func (r diagonalRoot) left(phi *mat.Dense) { r.right(phi) }

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
	return &rootCovariance{r, weights}, nil
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

// each calls f with each layer's part of each row, as a matrix with a row for each input of
// the layer and one for the bias.
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
