package dkl

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// process is the interface of the posteriors of packages gp and svgp.
type process interface {
	surrogate.Evidence
	surrogate.Stater
	surrogate.Describer
}

// posterior is a process on the features g(x).
type posterior struct {
	features *features
	w        []float64
	inner    process
	warnings []string
}

// exactPosterior adds the optional methods of the exact process.
type exactPosterior struct{ *posterior }

var (
	_ process               = (*posterior)(nil)
	_ surrogate.Conditioner = exactPosterior{}
	_ surrogate.LeaveOneOut = exactPosterior{}
)

func newPosterior(f *features, w []float64, inner process, warnings []string) surrogate.Posterior {
	p := &posterior{features: f, w: slices.Clone(w), inner: inner, warnings: warnings}
	if _, ok := inner.(surrogate.Conditioner); ok {
		return exactPosterior{p}
	}
	return p
}

// chunk is the number of points to evaluate at once.
const chunk = 1024

func (p *posterior) Dim() int       { return p.features.net.In }
func (p *posterior) Noise() float64 { return p.inner.Noise() }

// LogMarginalLikelihood returns the log marginal likelihood of the process on the features
// with constant weights. Beyond 1000 observations it is the lower bound of package svgp.
func (p *posterior) LogMarginalLikelihood() float64 { return p.inner.LogMarginalLikelihood() }
func (p *posterior) Warnings() []string             { return slices.Concat(p.warnings, p.inner.Warnings()) }
func (p *posterior) State() surrogate.State         { return summary.EncodeState(p.inner.State(), p.w) }

func (p *posterior) Hypers() []surrogate.Hyper {
	return append(p.inner.Hypers(), surrogate.Hyper{Name: "features", Value: float64(p.features.out)})
}

// Predict costs a pass of the network per point in addition to the process.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	shape.Predict(mean, variance, x, p.Dim())
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		p.inner.Predict(mean[i:k], variance[i:k], p.features.apply(p.w, x))
	})
}

// PredictGrad costs four passes of the network per point in addition to the process.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	shape.PredictGrad(mean, variance, dmean, dvariance, x, p.Dim())
	dmean.Zero()
	dvariance.Zero()
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t, phi := p.record(x)
		dm, dv := mat.NewDense(k-i, p.features.out, nil), mat.NewDense(k-i, p.features.out, nil)
		p.inner.PredictGrad(mean[i:k], variance[i:k], dm, dv, phi)
		t.vjp(nil, shape.Rows(dmean, i, k), dm)
		t.vjp(nil, shape.Rows(dvariance, i, k), dv)
	})
}

func (p *posterior) record(x *mat.Dense) (*tape, *mat.Dense) {
	m, _ := x.Dims()
	t, phi := new(tape), mat.NewDense(m, p.features.out, nil)
	t.record(p.features, p.w, phi, x)
	return t, phi
}

func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	shape.Points(x, p.Dim())
	p.inner.Joint(mean, cov, p.features.apply(p.w, x))
}

func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m := shape.JointVJP(dx, mbar, cbar, x, p.Dim())
	t, phi := p.record(x)
	dphi := mat.NewDense(m, p.features.out, nil)
	p.inner.JointVJP(dphi, mbar, cbar, phi)
	t.vjp(nil, dx, dphi)
}

// Paths draws paths of the process as functions of the features.
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := p.inner.Paths(n, rng)
	for i, inner := range paths {
		paths[i] = path{p, inner}
	}
	return paths
}

type path struct {
	p     *posterior
	inner surrogate.Path
}

func (q path) Eval(value []float64, grad, x *mat.Dense) {
	shape.Eval(value, grad, x, q.p.Dim())
	if grad != nil {
		grad.Zero()
	}
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		t, phi := q.p.record(x)
		if grad == nil {
			q.inner.Eval(value[i:k], nil, phi)
			return
		}
		dphi := mat.NewDense(k-i, q.p.features.out, nil)
		q.inner.Eval(value[i:k], dphi, phi)
		t.vjp(nil, shape.Rows(grad, i, k), dphi)
	})
}

// Condition implements surrogate.Conditioner. It does not change the features.
func (p exactPosterior) Condition(x *mat.Dense, y []float64) (surrogate.Posterior, error) {
	if err := (surrogate.Dataset{X: x, Y: y}).Validate(); err != nil {
		return nil, err
	}
	shape.Points(x, p.Dim())
	inner, err := p.inner.(surrogate.Conditioner).Condition(p.features.apply(p.w, x), y)
	if err != nil {
		return nil, err
	}
	return newPosterior(p.features, p.w, inner.(process), p.warnings), nil
}

// LeaveOneOut implements surrogate.LeaveOneOut. The weights of the features depend on all
// observations, the omitted observation included.
func (p exactPosterior) LeaveOneOut(mean, variance []float64) {
	p.inner.(surrogate.LeaveOneOut).LeaveOneOut(mean, variance)
}
