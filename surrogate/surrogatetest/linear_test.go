package surrogatetest_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/surrogate"
)

const toyNoise = 0.01

// linear is exact Bayesian linear regression f = Φw, w ~ N(0, I), on the features
// φ(x) = (1, x_j, sin 3x_j).
type linear struct{}

func (linear) Fit(ctx context.Context, d surrogate.Dataset, _ *rand.Rand) (surrogate.Posterior, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, dim := d.Dims()
	p := &fitted{dim: dim, precision: mat.NewSymDense(1+2*dim, nil), shift: make([]float64, 1+2*dim)}
	for i := range p.shift {
		p.precision.SetSym(i, i, 1)
	}
	return p.observe(d.X, d.Y, n)
}

func (m linear) FitFrom(ctx context.Context, _ surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.Fit(ctx, d, rng)
}

// fitted is w ~ N(A⁻¹shift, A⁻¹) with A = precision.
type fitted struct {
	dim       int
	precision *mat.SymDense
	shift     []float64
	factor    *linalg.Cholesky
	mean      []float64
	x         *mat.Dense // training inputs
	y         []float64
}

func (p *fitted) observe(x *mat.Dense, y []float64, n int) (surrogate.Posterior, error) {
	next := &fitted{dim: p.dim, precision: mat.NewSymDense(len(p.shift), nil), shift: append([]float64{}, p.shift...)}
	phi, _ := p.features(x)
	next.precision.CopySym(p.precision)
	linalg.Syrk(next.precision, 1/toyNoise, linalg.T, phi, 1)
	for i := range n {
		linalg.Axpy(y[i]/toyNoise, phi.RawRowView(i), next.shift)
	}
	next.x, next.y = mat.NewDense(len(p.y)+n, p.dim, nil), append(append([]float64{}, p.y...), y...)
	if p.x != nil {
		next.x.Copy(p.x)
	}
	next.x.Slice(len(p.y), len(p.y)+n, 0, p.dim).(*mat.Dense).Copy(x)
	var err error
	if next.factor, err = linalg.Factorize(next.precision); err != nil {
		return nil, err
	}
	next.mean = append([]float64{}, next.shift...)
	next.factor.SolveVec(next.mean)
	return next, nil
}

// features returns Φ and its derivatives: slope[i][k] = ∂φ_k/∂x_j at row i, for the
// only j on which φ_k depends.
func (p *fitted) features(x *mat.Dense) (phi, slope *mat.Dense) {
	m, d := x.Dims()
	if d != p.dim {
		panic(fmt.Sprintf("%d columns, want %d", d, p.dim))
	}
	phi, slope = mat.NewDense(m, 1+2*d, nil), mat.NewDense(m, 1+2*d, nil)
	for i := range m {
		a, b := phi.RawRowView(i), slope.RawRowView(i)
		a[0] = 1
		for j, v := range x.RawRowView(i) {
			a[1+2*j], b[1+2*j] = v, 1
			a[2+2*j], b[2+2*j] = math.Sin(3*v), 3*math.Cos(3*v)
		}
	}
	return phi, slope
}

// spread adds the gradient of Σ_ik bar_ik φ_k(x_i) to dx.
func (p *fitted) spread(dx, bar, slope *mat.Dense) {
	m, k := bar.Dims()
	if r, _ := dx.Dims(); r != m {
		panic(fmt.Sprintf("%d rows, want %d", r, m))
	}
	for i := range m {
		for c := 1; c < k; c++ {
			dx.Set(i, (c-1)/2, dx.At(i, (c-1)/2)+bar.At(i, c)*slope.At(i, c))
		}
	}
}

func (p *fitted) Dim() int               { return p.dim }
func (p *fitted) Noise() float64         { return toyNoise }
func (p *fitted) Warnings() []string     { return nil }
func (p *fitted) State() surrogate.State { return append(surrogate.State{}, p.mean...) }
func (p *fitted) Hypers() []surrogate.Hyper {
	return []surrogate.Hyper{{Name: "noise", Value: toyNoise}}
}

func (p *fitted) Predict(mean, variance []float64, x *mat.Dense) {
	m, _ := x.Dims()
	cov := mat.NewSymDense(m, nil)
	p.Joint(mean, cov, x)
	for i := range m {
		variance[i] = cov.At(i, i)
	}
	if len(variance) != m {
		panic(fmt.Sprintf("%d variances, want %d", len(variance), m))
	}
}

func (p *fitted) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	m, _ := x.Dims()
	p.Predict(mean, variance, x)
	ones, eye := make([]float64, m), mat.NewSymDense(m, nil)
	for i := range m {
		ones[i] = 1
		eye.SetSym(i, i, 1)
	}
	dmean.Zero()
	dvariance.Zero()
	p.JointVJP(dmean, ones, mat.NewSymDense(m, nil), x)
	p.JointVJP(dvariance, make([]float64, m), eye, x)
}

func (p *fitted) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	phi, _ := p.features(x)
	linalg.MulVec(mean, 1, linalg.N, phi, p.mean, 0)
	half := mat.DenseCopyOf(phi.T())
	p.factor.SolveLower(half)
	linalg.Syrk(cov, 1, linalg.T, half, 0)
}

func (p *fitted) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	phi, slope := p.features(x)
	m, k := phi.Dims()
	bar := mat.NewDense(m, k, nil)
	for i := range m {
		linalg.Axpy(mbar[i], p.mean, bar.RawRowView(i))
	}
	solved := mat.DenseCopyOf(phi.T())
	p.factor.Solve(solved)
	linalg.Mul(bar, 2, linalg.N, mat.DenseCopyOf(cbar), linalg.T, solved, 1)
	p.spread(dx, bar, slope)
}

func (p *fitted) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		w := make([]float64, len(p.mean))
		for k := range w {
			w[k] = rng.NormFloat64()
		}
		p.factor.SolveUpperVec(w)
		linalg.Axpy(1, p.mean, w)
		paths[i] = &drawn{p, w}
	}
	return paths
}

type drawn struct {
	p *fitted
	w []float64
}

func (f *drawn) Eval(value []float64, grad, x *mat.Dense) {
	phi, slope := f.p.features(x)
	linalg.MulVec(value, 1, linalg.N, phi, f.w, 0)
	if grad == nil {
		return
	}
	grad.Zero()
	for i := range value {
		copy(phi.RawRowView(i), f.w)
	}
	f.p.spread(grad, phi, slope)
}

func (p *fitted) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	d := surrogate.Dataset{X: x, Y: y}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	n, _ := d.Dims()
	return p.observe(x, y, n)
}

func (p *fitted) LogMarginalLikelihood() float64 { return -1 }

func (p *fitted) LeaveOneOut(mean, variance []float64) {
	if len(mean) != len(p.y) || len(variance) != len(p.y) {
		panic(fmt.Sprintf("%d means, %d variances, want %d", len(mean), len(variance), len(p.y)))
	}
	p.Predict(mean, variance, p.x)
	for i, s := range variance {
		variance[i] = s / (1 - s/toyNoise)
		mean[i] -= variance[i] * (p.y[i] - mean[i]) / toyNoise
	}
}
