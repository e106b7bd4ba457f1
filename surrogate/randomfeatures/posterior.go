package randomfeatures

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
)

// posterior is w ~ N(A⁻¹shift, A⁻¹) with A = precision and shift = Φᵀr/σ².
type posterior struct {
	process   prior.Process
	features  prior.Features
	precision *mat.SymDense
	shift     []float64
	n         int     // observations
	rr        float64 // |r|²

	factor   *linalg.Cholesky // of A
	weights  []float64        // mean of w
	state    surrogate.State
	warnings []string
}

var (
	_ surrogate.Conditioner = (*posterior)(nil)
	_ surrogate.Evidence    = (*posterior)(nil)
	_ surrogate.Stater      = (*posterior)(nil)
	_ surrogate.Describer   = (*posterior)(nil)
)

// observe returns the posterior after also observing y at the rows of x, in
// O(nF² + F³).
func (p *posterior) observe(ctx context.Context, x *mat.Dense, y []float64) (*posterior, error) {
	f := len(p.shift)
	out := *p
	out.precision, out.shift = mat.NewSymDense(f, nil), slices.Clone(p.shift)
	out.precision.CopySym(p.precision)
	out.n += len(y)
	r := make([]float64, len(y))
	for i, v := range y {
		r[i] = v - p.process.Mean
		out.rr += r[i] * r[i]
	}
	for lo := 0; lo < len(y); lo += chunk {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+chunk, len(y))
		phi := p.eval(rows(x, lo, hi))
		linalg.Syrk(out.precision, 1/p.process.Noise, linalg.T, phi, 1)
		linalg.MulVec(out.shift, 1/p.process.Noise, linalg.T, phi, r[lo:hi], 1)
	}
	var err error
	if out.factor, err = linalg.Factorize(out.precision); err != nil {
		return nil, err
	}
	out.weights = slices.Clone(out.shift)
	out.factor.SolveVec(out.weights)
	return &out, nil
}

// Condition implements surrogate.Conditioner; it is exact for the features.
func (p *posterior) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	if err := (surrogate.Dataset{X: x, Y: y}).Validate(); err != nil {
		return nil, err
	}
	shape.Points(x, p.Dim())
	out, err := p.observe(context.Background(), x, y)
	if err != nil {
		return nil, wrap(err)
	}
	return out, nil
}

func (p *posterior) eval(x *mat.Dense) *mat.Dense {
	m, _ := x.Dims()
	phi := mat.NewDense(m, len(p.shift), nil)
	p.features.Eval(phi, x)
	return phi
}

func (p *posterior) Dim() int               { return p.features.Dim() }
func (p *posterior) Noise() float64         { return p.process.Noise }
func (p *posterior) Warnings() []string     { return slices.Clone(p.warnings) }
func (p *posterior) State() surrogate.State { return slices.Clone(p.state) }

// LogMarginalLikelihood is log N(y; μ, ΦΦᵀ + σ²I), that of the features and not of
// the kernel.
func (p *posterior) LogMarginalLikelihood() float64 {
	noise := p.process.Noise
	return -0.5 * (float64(p.n)*math.Log(2*math.Pi*noise) + p.factor.LogDet() + p.rr/noise - linalg.Dot(p.shift, p.weights))
}

// Hypers implements surrogate.Describer.
func (p *posterior) Hypers() []surrogate.Hyper {
	var out []surrogate.Hyper
	for _, h := range p.process.Kernel.Params() {
		out = append(out, surrogate.Hyper{Name: h.Name, Value: h.Value})
	}
	return append(out,
		surrogate.Hyper{Name: "noise", Value: p.process.Noise},
		surrogate.Hyper{Name: "mean", Value: p.process.Mean},
		surrogate.Hyper{Name: "features", Value: float64(len(p.shift))})
}

// moments writes the mean and the variance at the rows of x and returns the rows
// of φ(x)L⁻ᵀ, transposed.
func (p *posterior) moments(mean, variance []float64, x *mat.Dense) *mat.Dense {
	phi := p.eval(x)
	linalg.MulVec(mean, 1, linalg.N, phi, p.weights, 0)
	for i := range mean {
		mean[i] += p.process.Mean
	}
	half := mat.DenseCopyOf(phi.T())
	p.factor.SolveLower(half)
	clear(variance)
	for i := range p.shift {
		for j, v := range half.RawRowView(i) {
			variance[j] += v * v
		}
	}
	return half
}

// Predict costs O(F²) a point.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	m := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("variance", len(variance), m)
	for lo := 0; lo < m; lo += chunk {
		hi := min(lo+chunk, m)
		p.moments(mean[lo:hi], variance[lo:hi], rows(x, lo, hi))
	}
}

// PredictGrad costs O(F²) a point.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	m := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("variance", len(variance), m)
	shape.Dims("dmean", dmean, m, p.Dim())
	shape.Dims("dvariance", dvariance, m, p.Dim())
	dmean.Zero()
	dvariance.Zero()
	for lo := 0; lo < m; lo += chunk {
		hi := min(lo+chunk, m)
		xc := rows(x, lo, hi)
		half := p.moments(mean[lo:hi], variance[lo:hi], xc)
		bar := mat.NewDense(hi-lo, len(p.shift), nil)
		for i := range hi - lo {
			copy(bar.RawRowView(i), p.weights)
		}
		p.features.EvalVJP(rows(dmean, lo, hi), xc, bar)
		p.factor.SolveUpper(half)
		bar.Copy(half.T())
		bar.Scale(2, bar)
		p.features.EvalVJP(rows(dvariance, lo, hi), xc, bar)
	}
}

// Joint costs O(mF² + m²F) for m points.
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	m := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), m)
	shape.Len("cov", cov.SymmetricDim(), m)
	half := p.moments(mean, make([]float64, m), x)
	linalg.Syrk(cov, 1, linalg.T, half, 0)
}

// JointVJP costs O(mF² + m²F): with C̄ = cbar and m̄ = mbar the adjoint of φ(x) is
// m̄wᵀ + 2C̄φ(x)A⁻¹.
func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m := shape.Points(x, p.Dim())
	shape.Len("mbar", len(mbar), m)
	shape.Len("cbar", cbar.SymmetricDim(), m)
	shape.Dims("dx", dx, m, p.Dim())
	half := p.moments(make([]float64, m), make([]float64, m), x)
	p.factor.SolveUpper(half)
	full, bar := mat.NewDense(m, m, nil), mat.NewDense(m, len(p.shift), nil)
	full.Copy(cbar)
	linalg.Mul(bar, 2, linalg.N, full, linalg.T, half, 0)
	for i, w := range mbar {
		linalg.Axpy(w, p.weights, bar.RawRowView(i))
	}
	p.features.EvalVJP(dx, x, bar)
}

// Paths draws w: each path is an exact draw of the posterior.
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		w := make([]float64, len(p.shift))
		for j := range w {
			w[j] = rng.NormFloat64()
		}
		p.factor.SolveUpperVec(w)
		linalg.Axpy(1, p.weights, w)
		paths[i] = prior.Function{Features: p.features, Weights: w, Mean: p.process.Mean}
	}
	return paths
}

func rows(x *mat.Dense, lo, hi int) *mat.Dense {
	_, d := x.Dims()
	return x.Slice(lo, hi, 0, d).(*mat.Dense)
}
