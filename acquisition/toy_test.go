package acquisition

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/surrogate"
)

// toy is Bayesian linear regression on cosine features, exact in every method:
// f(x) = offset + scale·Σ_k w_k a cos(ω_k·x + b_k), w ~ N(m, S).
type toy struct {
	d             int
	omega         *mat.Dense
	phase         []float64
	amplitude     float64
	m             []float64
	s             *mat.SymDense
	root          *mat.Dense // S = root rootᵀ
	noise         float64
	offset, scale float64
}

const toyFeatures = 60

// newToy returns the posterior of n noisy observations, and the points.
func newToy(t testing.TB, d, n int, noise float64, seed uint64) (*toy, *mat.Dense, []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := &toy{d: d, omega: mat.NewDense(toyFeatures, d, nil), phase: make([]float64, toyFeatures), amplitude: math.Sqrt(2.0 / toyFeatures), noise: noise, scale: 1}
	for k := range toyFeatures {
		for j := range d {
			p.omega.Set(k, j, 3*rng.NormFloat64())
		}
		p.phase[k] = 2 * math.Pi * rng.Float64()
	}
	p.m, p.s = make([]float64, toyFeatures), mat.NewSymDense(toyFeatures, nil)
	for k := range toyFeatures {
		p.s.SetSym(k, k, 1)
	}
	p.setRoot(t)
	truth := p.Paths(1, rng)[0]
	x, y := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.Float64())
		}
	}
	truth.Eval(y, nil, x)
	for i := range y {
		y[i] += math.Sqrt(noise) * rng.NormFloat64()
	}
	return p.observe(t, x, y), x, y
}

func (p *toy) setRoot(t testing.TB) {
	var c mat.Cholesky
	jittered := mat.NewSymDense(toyFeatures, nil)
	jittered.CopySym(p.s)
	for k := range toyFeatures {
		jittered.SetSym(k, k, jittered.At(k, k)+1e-14)
	}
	require.True(t, c.Factorize(jittered))
	var l mat.TriDense
	c.LTo(&l)
	p.root = mat.DenseCopyOf(&l)
}

func (p *toy) observe(t testing.TB, x *mat.Dense, y []float64) *toy {
	out := *p
	psi := p.features(x)
	n := len(y)
	ps, a := mat.NewDense(n, toyFeatures, nil), mat.NewSymDense(n, nil)
	linalg.Mul(ps, 1, linalg.N, psi, linalg.N, mat.DenseCopyOf(p.s), 0)
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, linalg.Dot(ps.RawRowView(i), psi.RawRowView(j)))
		}
		a.SetSym(i, i, a.At(i, i)+p.noise)
	}
	r := mat.NewVecDense(n, nil)
	r.MulVec(psi, mat.NewVecDense(len(p.m), p.m))
	for i := range n {
		r.SetVec(i, (y[i]-p.offset)/p.scale-r.AtVec(i))
	}
	factor, err := linalg.Factorize(a)
	require.NoError(t, err)
	gain, drop := mat.DenseCopyOf(ps), mat.NewDense(toyFeatures, toyFeatures, nil)
	factor.Solve(gain)
	step := mat.NewVecDense(len(p.m), nil)
	step.MulVec(gain.T(), r)
	linalg.Mul(drop, 1, linalg.T, gain, linalg.N, ps, 0)
	out.m, out.s = make([]float64, len(p.m)), mat.NewSymDense(len(p.m), nil)
	for i := range out.m {
		out.m[i] = p.m[i] + step.AtVec(i)
		for j := i; j < len(out.m); j++ {
			out.s.SetSym(i, j, p.s.At(i, j)-0.5*(drop.At(i, j)+drop.At(j, i)))
		}
	}
	out.setRoot(t)
	return &out
}

// affine is the posterior of a + b·f.
func (p *toy) affine(a, b float64) *toy {
	out := *p
	out.offset, out.scale, out.noise = a+b*p.offset, b*p.scale, b*b*p.noise
	return &out
}

func (p *toy) features(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	psi := mat.NewDense(n, toyFeatures, nil)
	for i := range n {
		row, at := psi.RawRowView(i), x.RawRowView(i)
		for k := range row {
			phase := p.phase[k]
			for j, w := range p.omega.RawRowView(k) { // linalg.Dot is slower for few inputs
				phase += at[j] * w
			}
			row[k] = p.amplitude * math.Cos(phase)
		}
	}
	return psi
}

// pull adds to dx the gradient of Σ_ik bar_ik ψ_k(x_i).
func (p *toy) pull(dx, bar, x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		for k, b := range bar.RawRowView(i) {
			w := p.omega.RawRowView(k)
			linalg.Axpy(-p.amplitude*b*math.Sin(linalg.Dot(x.RawRowView(i), w)+p.phase[k]), w, dx.RawRowView(i))
		}
	}
}

func (p *toy) Dim() int           { return p.d }
func (p *toy) Noise() float64     { return p.noise }
func (p *toy) Warnings() []string { return nil }

func (p *toy) Predict(mean, variance []float64, x *mat.Dense) {
	n, _ := x.Dims()
	psi := p.features(x)
	var half mat.Dense
	half.Mul(psi, p.root)
	for i := range n {
		mean[i] = p.offset + p.scale*linalg.Dot(psi.RawRowView(i), p.m)
		variance[i] = p.scale * p.scale * linalg.Dot(half.RawRowView(i), half.RawRowView(i))
	}
}

func (p *toy) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p.Predict(mean, variance, x)
	n, _ := x.Dims()
	dmean.Zero()
	dvariance.Zero()
	ones, none := make([]float64, n), mat.NewSymDense(n, nil)
	unit := mat.NewSymDense(n, nil)
	for i := range ones {
		ones[i] = 1
		unit.SetSym(i, i, 1)
	}
	p.JointVJP(dmean, ones, none, x)
	p.JointVJP(dvariance, make([]float64, n), unit, x)
}

func (p *toy) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	p.Predict(mean, make([]float64, len(mean)), x)
	var half, c mat.Dense
	half.Mul(p.features(x), p.root)
	c.Mul(&half, half.T())
	for i := range mean {
		for j := i; j < len(mean); j++ {
			cov.SetSym(i, j, p.scale*p.scale*c.At(i, j))
		}
	}
}

func (p *toy) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	var sp, bar mat.Dense
	sp.Mul(p.features(x), p.s)
	bar.Mul(cbar, &sp)
	n, _ := x.Dims()
	for i := range n {
		for k := range toyFeatures {
			bar.Set(i, k, 2*p.scale*p.scale*bar.At(i, k)+p.scale*mbar[i]*p.m[k])
		}
	}
	p.pull(dx, &bar, x)
}

type toyPath struct {
	p *toy
	w []float64
}

func (p *toy) Paths(n int, rng *rand.Rand) []surrogate.Path {
	out := make([]surrogate.Path, n)
	for i := range out {
		e := mat.NewVecDense(toyFeatures, nil)
		for k := range toyFeatures {
			e.SetVec(k, rng.NormFloat64())
		}
		w := mat.NewVecDense(toyFeatures, nil)
		w.MulVec(p.root, e)
		for k := range toyFeatures {
			w.SetVec(k, w.AtVec(k)+p.m[k])
		}
		out[i] = toyPath{p, w.RawVector().Data}
	}
	return out
}

func (q toyPath) Eval(value []float64, grad, x *mat.Dense) {
	q.values(value, q.p.features(x))
	n, _ := x.Dims()
	if grad == nil {
		return
	}
	grad.Zero()
	bar := mat.NewDense(n, toyFeatures, nil)
	for i := range n {
		for k, w := range q.w {
			bar.Set(i, k, q.p.scale*w)
		}
	}
	q.p.pull(grad, bar, x)
}

// values writes the values at points with features psi.
func (q toyPath) values(value []float64, psi *mat.Dense) {
	for i := range value {
		value[i] = q.p.offset + q.p.scale*linalg.Dot(psi.RawRowView(i), q.w)
	}
}

// conditioner is a toy that is a surrogate.Conditioner.
type conditioner struct {
	*toy
	t testing.TB
}

func (c conditioner) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	return c.observe(c.t, x, y), nil
}

// moments is a posterior with a given mean and covariance at any points.
type moments struct {
	mean []float64
	cov  *mat.SymDense
	mbar []float64 // last argument of JointVJP
}

func (p *moments) Dim() int       { return 1 }
func (p *moments) Noise() float64 { return 0 }
func (p *moments) Predict(mean, variance []float64, x *mat.Dense) {
	copy(mean, p.mean)
	for i := range variance {
		variance[i] = p.cov.At(i, i)
	}
}
func (p *moments) PredictGrad([]float64, []float64, *mat.Dense, *mat.Dense, *mat.Dense) {
	panic("not used")
}
func (p *moments) Joint(mean []float64, cov *mat.SymDense, _ *mat.Dense) {
	copy(mean, p.mean)
	cov.CopySym(p.cov)
}
func (p *moments) JointVJP(_ *mat.Dense, mbar []float64, _ *mat.SymDense, _ *mat.Dense) {
	p.mbar = append(p.mbar[:0], mbar...)
}
func (p *moments) Paths(int, *rand.Rand) []surrogate.Path { panic("not used") }
func (p *moments) Warnings() []string                     { return nil }

func uniform(n, d int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 2))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.Float64())
		}
	}
	return x
}

func name(v any) string { return fmt.Sprintf("%T", v)[len("acquisition."):] }
