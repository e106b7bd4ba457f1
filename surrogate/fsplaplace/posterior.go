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

// posterior is the network linearised at w* with a linear model of the features of
// its factor on top,
//
//	f(x,w*) + J(x)·shift + φ(x)·ω,  ω ~ N(m, A⁻¹).
type posterior struct {
	tangent.Network
	process prior.Process
	shift   []float64 // nil for none
	factor  factor
	m       []float64        // nil for 0
	a       *linalg.Cholesky // of A = L Lᵀ; nil for I
	half    *mat.Dense       // L⁻¹; nil for I
	halfT   *mat.Dense       // its transpose
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

// at returns the features at the rows of x, recorded in t.
func (p *posterior) at(mem *scratch.Memory, x *mat.Dense, t *nn.Tape) features {
	f := features{x: x, t: t, phi: mem.Dense(t.Len(), p.factor.rank()), gain: mem.Floats(t.Len())}
	p.factor.fill(f)
	return f
}

func (p *posterior) mean(dst []float64, at features) {
	p.networkMean(dst, at.t)
	if p.m != nil {
		linalg.MulVec(dst, 1, linalg.N, at.phi, p.m, 1)
	}
}

// networkMean is mean without what the features add.
func (p *posterior) networkMean(dst []float64, t *nn.Tape) {
	if p.shift == nil {
		copy(dst, t.Value())
		return
	}
	t.JVP(dst, p.shift)
	for i, v := range t.Value() {
		dst[i] += v
	}
}

// networkGrad writes the gradient of networkMean at each row of t.
func (p *posterior) networkGrad(dx *mat.Dense, t *nn.Tape) {
	t.InputGrad(dx)
	if p.shift != nil {
		t.JVPInputGrad(dx, p.shift)
	}
	p.Inputs.Pull(dx)
}

// whiten returns the rows L⁻¹φ, A = L Lᵀ, whose products are the covariance.
func (p *posterior) whiten(mem *scratch.Memory, at features) *mat.Dense {
	if p.a == nil {
		return at.phi
	}
	white := mem.Dense(at.phi.Dims())
	linalg.Mul(white, 1, linalg.N, at.phi, linalg.N, p.halfT, 0)
	return white
}

// whitenVJP returns the gradient with respect to φ for that with respect to L⁻¹φ.
func (p *posterior) whitenVJP(mem *scratch.Memory, bar *mat.Dense) *mat.Dense {
	if p.a == nil {
		return bar
	}
	out := mem.Dense(bar.Dims())
	linalg.Mul(out, 1, linalg.N, bar, linalg.N, p.half, 0)
	return out
}

// Predict costs O(|C|(Σ_l h_l + r) + r²) a point with the ridge factor, O(pr) with
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
		at := p.at(mem, x, t)
		p.mean(mean[i:k], at)
		white := p.whiten(mem, at)
		squaredNorms(variance[i:k], white)
	})
}

// PredictGrad costs about four times Predict.
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
		at := p.at(mem, x, t)
		p.mean(mean[i:k], at)
		white := p.whiten(mem, at)
		squaredNorms(variance[i:k], white)

		bar := mem.Dense(white.Dims())
		for j := range k - i {
			twice := bar.RawRowView(j)
			copy(twice, white.RawRowView(j))
			scaleRow(twice, 2)
		}
		dm, dv := mem.Rows(dmean, i, k), mem.Rows(dvariance, i, k)
		dv.Zero()
		p.factor.vjp(dv, at, p.whitenVJP(mem, bar))
		p.meanGrad(dm, at)
	})
}

// meanGrad writes the gradient of the mean at each point.
func (p *posterior) meanGrad(dx *mat.Dense, at features) {
	p.networkGrad(dx, at.t)
	if p.m == nil {
		return
	}
	mem := scratch.Borrow()
	defer mem.Return()
	bar := mem.Dense(at.phi.Dims())
	for i := range at.t.Len() {
		copy(bar.RawRowView(i), p.m)
	}
	p.factor.vjp(dx, at, bar)
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
	at := p.at(mem, x, t)
	p.mean(mean, at)
	linalg.Syrk(cov, 1, linalg.N, p.whiten(mem, at), 0)
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
	at := p.at(mem, x, t)
	bar, full := mem.Dense(at.phi.Dims()), mem.Dense(m, m)
	full.Copy(cbar)
	linalg.Mul(bar, 2, linalg.N, full, linalg.N, p.whiten(mem, at), 0)
	bar = p.whitenVJP(mem, bar)
	grad := mem.Dense(m, d)
	p.networkGrad(grad, t)
	for i, v := range mbar {
		scaleRow(grad.RawRowView(i), v)
		if p.m != nil {
			linalg.Axpy(v, p.m, bar.RawRowView(i))
		}
	}
	p.factor.vjp(grad, at, bar)
	dx.Add(dx, grad)
}

// Paths draws ω. A path costs O(p) a point where the features are weights of the
// network, and otherwise what Predict does.
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		omega := make([]float64, p.factor.rank())
		for k := range omega {
			omega[k] = rng.NormFloat64()
		}
		if p.a != nil {
			p.a.SolveUpperVec(omega)
		}
		if p.m != nil {
			linalg.Axpy(1, p.m, omega)
		}
		if s, ok := p.factor.(*primalFactor); ok {
			step := s.weights(omega)
			if p.shift != nil {
				linalg.Axpy(1, p.shift, step)
			}
			paths[i] = p.Path(step)
		} else {
			drawn := *p
			drawn.m = omega
			paths[i] = (*path)(&drawn)
		}
	}
	return paths
}

// path is the mean of a posterior.
type path posterior

// Eval implements surrogate.Path.
func (q *path) Eval(value []float64, grad, x *mat.Dense) {
	p := (*posterior)(q)
	m := shape.Points(x, p.Dim())
	shape.Len("value", len(value), m)
	if grad != nil {
		shape.Dims("grad", grad, m, p.Dim())
	}
	mem := scratch.Borrow()
	defer mem.Return()
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		mem.Reset()
		t := p.Record(x)
		defer t.Return()
		at := p.at(mem, x, t)
		p.mean(value[i:k], at)
		if grad != nil {
			p.meanGrad(mem.Rows(grad, i, k), at)
		}
	})
}

// observe adds the precision of noisy observations at the rows of x,
//
//	A + σ⁻² Σ_i φ(x_i)ᵀφ(x_i),
//
// in O(nr² + r³).
func (p *posterior) observe(x *mat.Dense) error {
	r := p.factor.rank()
	mem := scratch.Borrow()
	defer mem.Return()
	a := mem.Sym(r)
	a.Zero()
	if p.a == nil {
		fspace.AddDiagonal(a, 1)
	} else {
		l := mem.Dense(r, r)
		p.a.Lower(l)
		linalg.Syrk(a, 1, linalg.N, l, 0)
	}
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t := p.Record(x)
		defer t.Return()
		part := scratch.Borrow()
		defer part.Return()
		linalg.Syrk(a, 1/p.noise, linalg.T, p.at(part, x, t).phi, 1)
	})
	chol, err := linalg.Factorize(a)
	if err != nil {
		return fmt.Errorf("fsp-laplace: posterior precision: %w", err)
	}
	p.precision(chol)
	return nil
}

// precision sets A.
func (p *posterior) precision(a *linalg.Cholesky) {
	p.a, p.half = a, mat.NewDense(a.N(), a.N(), nil)
	for i := range a.N() {
		p.half.Set(i, i, 1)
	}
	a.SolveLower(p.half)
	p.halfT = mat.DenseCopyOf(p.half.T())
}

// pull moves the mean to what the values y at the rows of x, taken up by observe,
// say: by A⁻¹ σ⁻² Σ_i φ(x_i)ᵀ (y_i - mean(x_i)).
func (p *posterior) pull(x *mat.Dense, y []float64) {
	step := make([]float64, p.factor.rank())
	mem := scratch.Borrow()
	defer mem.Return()
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		mem.Reset()
		t := p.Record(x)
		defer t.Return()
		mean, at := mem.Floats(k-i), p.at(mem, x, t)
		p.mean(mean, at)
		for j, m := range mean {
			linalg.Axpy((y[i+j]-m)/p.noise, at.phi.RawRowView(j), step)
		}
	})
	p.a.SolveVec(step)
	if p.m != nil {
		linalg.Axpy(1, p.m, step)
	}
	p.m = step
}

// Condition takes up observations in the linear model, around the same w*: exact
// for it.
func (p *posterior) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	shape.Points(x, p.Dim())
	if err := (surrogate.Dataset{X: x, Y: y}).Validate(); err != nil {
		return nil, err
	}
	out := *p
	if err := out.observe(x); err != nil {
		return nil, err
	}
	out.pull(x, y)
	out.x, out.y = mat.NewDense(len(p.y)+len(y), p.Dim(), nil), slices.Concat(p.y, y)
	out.x.Stack(p.x, x)
	return &out, nil
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
