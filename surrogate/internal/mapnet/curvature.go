package mapnet

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate/internal/linearized"
)

// Curvature is the Gauss–Newton curvature G at the training inputs: JᵀJ or an approximation.
// With weights b of the observations it is JᵀBJ, B = diag(b), except for the dual form, which
// does not support weights.
type Curvature interface {
	// LogDet returns log|I + G/ρ| and the number of effective parameters γ = tr G(G + ρI)⁻¹.
	// The derivative of log|I + G/ρ| with respect to log ρ is -γ.
	LogDet(rho float64) (logDet, gamma float64, err error)
	// Covariance returns the covariance (δI + G/σ²)⁻¹ of the weights of the linearised network.
	Covariance(h Hypers) (linearized.Covariance, error)
}

// Names of curvatures.
const (
	Full     = "full"
	Kron     = "kron"
	Diagonal = "diagonal"
)

// maxFull bounds min(n, p) for the full curvature, which needs a matrix of that size.
const maxFull = 6000

// block is the number of observations that eachBlock processes at once.
const block = 512

// NewCurvature returns the curvature with the given name at weights w. Full costs
// O(min(n,p)²·max(n,p)), Kron O(nΣh²), Diagonal O(np).
func (p *Problem) NewCurvature(ctx context.Context, name string, w []float64) (Curvature, error) {
	switch name {
	case Kron:
		if p.Architecture != nil {
			return nil, fmt.Errorf("the curvature %s needs the layers of a fully connected network: choose curvature=%s or %s", Kron, Full, Diagonal)
		}
		return p.kron(ctx, w)
	case Diagonal:
		return p.diagonal(ctx, w)
	}
	n, weights := len(p.Y), len(w)
	switch {
	case min(n, weights) > maxFull:
		return nil, fmt.Errorf("the full curvature of %d observations and %d weights is too large: choose curvature=%s", n, weights, p.Factored())
	case n <= weights:
		return newDual(p.Net.Record(w, p.X)), nil
	}
	return p.primal(ctx, w)
}

// eachBlock calls f with a tape at each block of the training inputs and with the weights of
// its observations.
func (p *Problem) eachBlock(ctx context.Context, w []float64, f func(t *nn.Tape, weight []float64)) error {
	n, _ := p.X.Dims()
	tape, weight := new(nn.Tape), p.Weights
	if weight == nil {
		weight = slices.Repeat([]float64{1}, n)
	}
	for lo := 0; lo < n; lo += block {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+block, n)
		tape.Record(p.Net, w, shape.Rows(p.X, lo, hi))
		f(tape, weight[lo:hi])
	}
	return nil
}

// weighted returns a with each row multiplied by the square root of its weight. It returns a
// itself if all weights are 1.
func weighted(a *mat.Dense, weight []float64) *mat.Dense {
	if !slices.ContainsFunc(weight, func(b float64) bool { return b != 1 }) {
		return a
	}
	a = mat.DenseCopyOf(a)
	for i, b := range weight {
		floats.Scale(math.Sqrt(b), a.RawRowView(i))
	}
	return a
}

// whole is a curvature, or a matrix with the same nonzero eigenvalues.
type whole struct{ a *mat.SymDense }

func (c whole) LogDet(rho float64) (logDet, gamma float64, err error) {
	_, logDet, gamma, err = ridged(c.a, rho)
	return logDet, gamma, err
}

// dual holds the tangent kernel Θ = J Jᵀ, which has the nonzero eigenvalues of JᵀJ.
type dual struct {
	whole
	tape *nn.Tape
}

func newDual(t *nn.Tape) *dual {
	c := &dual{whole{mat.NewSymDense(t.Len(), nil)}, t}
	nn.KernelSym(c.a, t)
	return c
}

// ridged factorises a + ρI. It returns log|I + a/ρ| and tr a(a + ρI)⁻¹.
func ridged(a *mat.SymDense, rho float64) (chol *linalg.Cholesky, logDet, gamma float64, err error) {
	n := a.SymmetricDim()
	b := linalg.CloneSym(a)
	linalg.AddDiagonal(b, rho)
	if chol, err = linalg.Factorize(b); err != nil {
		return nil, 0, 0, err
	}
	inverse := make([]float64, n)
	chol.InverseDiag(inverse)
	gamma = float64(n)
	for _, v := range inverse {
		gamma -= rho * v
	}
	return chol, chol.LogDet() - float64(n)*math.Log(rho), gamma, nil
}

// primal holds JᵀJ.
type primal struct{ whole }

func (p *Problem) primal(ctx context.Context, w []float64) (*primal, error) {
	c := &primal{whole{mat.NewSymDense(len(w), nil)}}
	err := p.eachBlock(ctx, w, func(t *nn.Tape, weight []float64) {
		linalg.Syrk(c.a, 1, linalg.T, weighted(t.NewJacobian(), weight), 1)
	})
	return c, err
}

// diagonal holds the diagonal of JᵀJ.
type diagonal struct{ d []float64 }

func (p *Problem) diagonal(ctx context.Context, w []float64) (*diagonal, error) {
	c := &diagonal{make([]float64, len(w))}
	err := p.eachBlock(ctx, w, func(t *nn.Tape, weight []float64) {
		j := t.NewJacobian()
		for i, b := range weight {
			for k, v := range j.RawRowView(i) {
				c.d[k] += b * v * v
			}
		}
	})
	return c, err
}

func (c *diagonal) LogDet(rho float64) (logDet, gamma float64, err error) {
	for _, d := range c.d {
		logDet += math.Log1p(d / rho)
		gamma += d / (d + rho)
	}
	return logDet, gamma, nil
}

// kron is the Kronecker-factored curvature: block-diagonal with a block A⊗B/n for each layer.
// A = Σ_i ā_iā_iᵀ, where ā is the input of the layer, extended by a one for the bias.
// B = Σ_i δ_iδ_iᵀ, where δ is the derivative with respect to its output. See Martens and
// Grosse (2015, eq. 1) and Ritter, Botev and Barber (2018).
type kron struct{ layers []kronLayer }

// kronLayer holds the eigenvectors of the factors of a block. The block has the eigenvalues
// value.At(i,j).
type kronLayer struct {
	a, b  *mat.Dense // eigenvectors, in rows
	value *mat.Dense
}

func (p *Problem) kron(ctx context.Context, w []float64) (*kron, error) {
	depth := len(p.Net.Hidden)
	as, bs := make([]*mat.SymDense, depth+1), make([]*mat.SymDense, depth+1)
	for i, l := range p.Net.Layers() {
		as[i], bs[i] = mat.NewSymDense(l.In+1, nil), mat.NewSymDense(l.Out, nil)
	}
	err := p.eachBlock(ctx, w, func(t *nn.Tape, weight []float64) {
		for l := range as {
			a, delta := t.Layer(l)
			m, h := a.Dims()
			wide := mat.NewDense(m, h+1, nil)
			for i := range m {
				wide.RawRowView(i)[copy(wide.RawRowView(i), a.RawRowView(i))] = 1
			}
			linalg.Syrk(as[l], 1, linalg.T, wide, 1)
			if delta == nil {
				for _, b := range weight {
					bs[l].SetSym(0, 0, bs[l].At(0, 0)+b)
				}
			} else {
				linalg.Syrk(bs[l], 1, linalg.T, weighted(delta, weight), 1)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	c := &kron{}
	for l := range as {
		va, ea, err := eigen(as[l])
		if err != nil {
			return nil, err
		}
		vb, eb, err := eigen(bs[l])
		if err != nil {
			return nil, err
		}
		value := mat.NewDense(len(ea), len(eb), nil)
		for i, x := range ea {
			for j, y := range eb {
				value.Set(i, j, x*y/float64(len(p.Y)))
			}
		}
		c.layers = append(c.layers, kronLayer{va, vb, value})
	}
	return c, nil
}

// eigen returns the eigenvectors and eigenvalues of a positive semidefinite a.
func eigen(a *mat.SymDense) (*mat.Dense, []float64, error) {
	values, v, err := linalg.Eigen(a)
	if err != nil {
		return nil, nil, fmt.Errorf("curvature: %w", err)
	}
	for i := range values {
		values[i] = max(values[i], 0)
	}
	return v, values, nil
}

func (c *kron) LogDet(rho float64) (logDet, gamma float64, err error) {
	for _, l := range c.layers {
		for _, v := range l.value.RawMatrix().Data {
			logDet += math.Log1p(v / rho)
			gamma += v / (v + rho)
		}
	}
	return logDet, gamma, nil
}

// Factored returns the name of the curvature for the updates of the hyperparameters in training by
// Adam: Kron, or Diagonal for an architecture.
func (n Network) Factored() string {
	if n.Architecture != nil {
		return Diagonal
	}
	return Kron
}

// Cheap returns the name of the curvature for models that need no covariance: Full for at
// most gaussNewtonRows observations or weights, else Factored.
func (p *Problem) Cheap() string {
	if min(len(p.Y), p.Net.NumParams()) <= gaussNewtonRows {
		return Full
	}
	return p.Factored()
}
