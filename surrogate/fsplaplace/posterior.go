package fsplaplace

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/fspace"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/scratch"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/tangent"
)

// chunk is how many points go through the network at a time.
const chunk = 256

// posterior is N(w*, S Sᵀ) through the linearised network: mean
// f(x,w*) + J(x)·shift, features φ(x) = J(x)S, covariance φ(x)φ(x')ᵀ.
type posterior struct {
	tangent.Network
	process prior.Process
	shift   []float64 // step of the linearised network; nil for none
	factor  factor
	noise   float64
	ridge   float64 // decimal exponent; 0 where the factor has none

	x        *mat.Dense // what was observed, owned
	y        []float64
	warnings []string
	state    surrogate.State
}

var (
	_ surrogate.Conditioner = (*posterior)(nil)
	_ surrogate.LeaveOneOut = (*posterior)(nil)
	_ surrogate.Stater      = (*posterior)(nil)
	_ surrogate.Describer   = (*posterior)(nil)
)

func (p *posterior) Noise() float64         { return p.noise }
func (p *posterior) Warnings() []string     { return slices.Clone(p.warnings) }
func (p *posterior) State() surrogate.State { return slices.Clone(p.state) }

// Hypers implements surrogate.Describer.
func (p *posterior) Hypers() []surrogate.Hyper {
	out := append(fspace.Hypers(p.process.Kernel),
		surrogate.Hyper{Name: "mean", Value: p.process.Mean},
		surrogate.Hyper{Name: "noise", Value: p.noise},
		surrogate.Hyper{Name: "rank", Value: float64(p.factor.rank())})
	if p.ridge != 0 {
		out = append(out, surrogate.Hyper{Name: "log10 ridge", Value: p.ridge})
	}
	return out
}

// mean writes the mean at the rows of t.
func (p *posterior) mean(dst []float64, t *nn.Tape) {
	if p.shift == nil {
		copy(dst, t.Value())
		return
	}
	t.JVP(dst, p.shift)
	for i, v := range t.Value() {
		dst[i] += v
	}
}

// meanGrad writes the gradient of Σ_i mbar_i mean_i with respect to the
// network's inputs; a nil mbar is all ones.
func (p *posterior) meanGrad(dx *mat.Dense, t *nn.Tape, mbar []float64) {
	t.InputGrad(dx)
	if p.shift != nil {
		t.JVPInputGrad(dx, p.shift)
	}
	for i, v := range mbar {
		scaleRow(dx.RawRowView(i), v)
	}
}

// Predict costs O(|C|(Σ_l h_l + r)) a point with the ridge factor, O(pr) with
// the others.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	m := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("variance", len(variance), m)
	mem := scratch.Borrow()
	defer mem.Return()
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		mem.Reset()
		t := p.Record(x)
		defer t.Return()
		p.mean(mean[i:k], t)
		phi := mem.Dense(k-i, p.factor.rank())
		p.factor.features(phi, t)
		squaredNorms(variance[i:k], phi)
	})
}

// PredictGrad costs about three times Predict.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	m := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("variance", len(variance), m)
	shape.Dims("dmean", dmean, m, p.Dim())
	shape.Dims("dvariance", dvariance, m, p.Dim())
	mem := scratch.Borrow()
	defer mem.Return()
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		mem.Reset()
		t := p.Record(x)
		defer t.Return()
		p.mean(mean[i:k], t)
		phi := mem.Dense(k-i, p.factor.rank())
		p.factor.features(phi, t)
		squaredNorms(variance[i:k], phi)

		dm, dv := mem.Rows(dmean, i, k), mem.Rows(dvariance, i, k)
		p.meanGrad(dm, t, nil)
		p.Inputs.Pull(dm)

		for j := range k - i {
			scaleRow(phi.RawRowView(j), 2)
		}
		dv.Zero()
		p.factor.vjp(dv, t, phi)
		p.Inputs.Pull(dv)
	})
}

// Joint implements surrogate.Posterior in O(m² r) beyond Predict.
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	m := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Dims("cov", cov, m, m)
	mem := scratch.Borrow()
	defer mem.Return()
	t := p.Record(x)
	defer t.Return()
	p.mean(mean, t)
	phi := mem.Dense(t.Len(), p.factor.rank())
	p.factor.features(phi, t)
	linalg.Syrk(cov, 1, linalg.N, phi, 0)
}

// JointVJP implements surrogate.Posterior.
func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m, d := shape.Points(x, p.Dim()), p.Dim()
	shape.Len("mbar", len(mbar), m)
	shape.Dims("cbar", cbar, m, m)
	shape.Dims("dx", dx, m, d)
	mem := scratch.Borrow()
	defer mem.Return()
	t := p.Record(x)
	defer t.Return()
	r := p.factor.rank()
	phi, fbar, full := mem.Dense(m, r), mem.Dense(m, r), mem.Dense(m, m)
	p.factor.features(phi, t)
	full.Copy(cbar)
	linalg.Mul(fbar, 2, linalg.N, full, linalg.N, phi, 0)

	grad := mem.Dense(m, d)
	p.meanGrad(grad, t, mbar)
	p.factor.vjp(grad, t, fbar)
	p.Inputs.Pull(grad)
	dx.Add(dx, grad)
}

// Paths draws linearised networks f(x,w*) + J(x)(shift + S e), e ~ N(0,I).
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	e := make([]float64, p.factor.rank())
	for i := range paths {
		for k := range e {
			e[k] = rng.NormFloat64()
		}
		dir := p.factor.weights(e)
		if p.shift != nil {
			linalg.Axpy(1, p.shift, dir)
		}
		paths[i] = p.Path(dir)
	}
	return paths
}

// observe returns the factor after observing the n rows of x: with
// A = I + σ⁻² Σ_i φ(x_i)ᵀφ(x_i) = L Lᵀ it is S L^{-T}, and S L^{-T} L⁻¹ Sᵀ the
// inverse of the old precision plus σ⁻² Σ_i J(x_i)ᵀJ(x_i). O(nr² + r³ + r²|C|).
func (p *posterior) observe(f factor, x *mat.Dense) (factor, error) {
	r := f.rank()
	mem := scratch.Borrow()
	defer mem.Return()
	a := mem.Sym(r)
	a.Zero()
	fspace.AddDiagonal(a, 1)
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t := p.Record(x)
		defer t.Return()
		part := scratch.Borrow()
		defer part.Return()
		phi := part.Dense(k-i, r)
		f.features(phi, t)
		linalg.Syrk(a, 1/p.noise, linalg.T, phi, 1)
	})
	chol, err := linalg.Factorize(a)
	if err != nil {
		return nil, fmt.Errorf("fsp-laplace: posterior precision: %w", err)
	}
	return f.solve(chol), nil
}

// Condition takes up observations in weight space, around the same w*: exact
// for the linearised network.
func (p *posterior) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	shape.Points(x, p.Dim())
	if err := (surrogate.Dataset{X: x, Y: y}).Validate(); err != nil {
		return nil, err
	}
	f, err := p.observe(p.factor, x)
	if err != nil {
		return nil, err
	}
	out := *p
	out.factor = f
	out.shift = f.weights(p.pull(f, x, y))
	if p.shift != nil {
		linalg.Axpy(1, p.shift, out.shift)
	}
	out.x, out.y = mat.NewDense(len(p.y)+len(y), p.Dim(), nil), slices.Concat(p.y, y)
	out.x.Stack(p.x, x)
	return &out, nil
}

// pull returns e = σ⁻² Σ_i φ(x_i) (y_i - mean(x_i)), with φ the features of f:
// if f is the factor after the observations y, the step S e moves a mean that
// does not know them yet to the one that does.
func (p *posterior) pull(f factor, x *mat.Dense, y []float64) []float64 {
	e := make([]float64, f.rank())
	mem := scratch.Borrow()
	defer mem.Return()
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		mem.Reset()
		t := p.Record(x)
		defer t.Return()
		mean, phi := mem.Floats(k-i), mem.Dense(k-i, f.rank())
		p.mean(mean, t)
		f.features(phi, t)
		for j, m := range mean {
			linalg.Axpy((y[i+j]-m)/p.noise, phi.RawRowView(j), e)
		}
	})
	return e
}

// atTrainingRows keeps what LeaveOneOut needs.
func (p *posterior) atTrainingRows(pr *problem) {
	p.x, p.y = mat.DenseCopyOf(pr.data.X), slices.Clone(pr.data.Y)
}

// LeaveOneOut removes one Gaussian factor at a time from the posterior of the
// linearised network, weights unchanged: v_i = s/(1 - s/σ²) and
// mean_i = m - v_i (y - m)/σ², where m and s are the posterior mean and variance
// at x_i. Rows that Condition added come last. It costs a Predict.
func (p *posterior) LeaveOneOut(mean, variance []float64) {
	shape.Len("mean", len(mean), len(p.y))
	shape.Len("variance", len(variance), len(p.y))
	p.Predict(mean, variance, p.x)
	for i, s := range variance {
		variance[i] = s / max(1-s/p.noise, 1e-12)
		mean[i] -= variance[i] * (p.y[i] - mean[i]) / p.noise
	}
}

func squaredNorms(dst []float64, x *mat.Dense) {
	for i := range dst {
		row := x.RawRowView(i)
		dst[i] = linalg.Dot(row, row)
	}
}

func scaleRow(row []float64, s float64) {
	for i := range row {
		row[i] *= s
	}
}
