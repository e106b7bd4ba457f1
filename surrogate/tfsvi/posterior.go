package tfsvi

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/fspace"
	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate"
)

// chunk is how many points go through the networks at a time.
const chunk = 256

// posterior is the uniform distribution over networks drawn from q: its mean and
// covariance are theirs, and a path is one of them.
type posterior struct {
	net      *nn.Network
	inputs   fspace.Affine
	networks [][]float64 // weights
	noise    float64
	state    surrogate.State
}

var (
	_ surrogate.Stater    = (*posterior)(nil)
	_ surrogate.Describer = (*posterior)(nil)
)

// newPosterior draws the networks in pairs m ± s∘ε.
func newPosterior(p *problem, v *variational, rng *rand.Rand) *posterior {
	post := &posterior{net: p.net, inputs: p.inputs, networks: make([][]float64, p.Samples), noise: math.Exp(2 * v.logSD[0]), state: v.vector}
	s := v.scales()
	for k := range post.networks {
		w := make([]float64, len(v.m))
		for i := range w {
			if k%2 == 0 {
				w[i] = v.m[i] + s[i]*rng.NormFloat64()
			} else {
				w[i] = 2*v.m[i] - post.networks[k-1][i]
			}
		}
		post.networks[k] = w
	}
	return post
}

func (p *posterior) Dim() int           { return p.net.In }
func (p *posterior) Noise() float64     { return p.noise }
func (p *posterior) Warnings() []string { return nil }

// State is m, log s and log σ.
func (p *posterior) State() surrogate.State { return append(surrogate.State(nil), p.state...) }

// Hypers implements surrogate.Describer.
func (p *posterior) Hypers() []surrogate.Hyper {
	return []surrogate.Hyper{{Name: "noise", Value: p.noise}, {Name: "weights", Value: float64(p.net.NumParams())}}
}

// values returns the networks at the rows of x, in the network's units, less
// their mean, which it writes.
func (p *posterior) values(mean []float64, x *mat.Dense) *mat.Dense {
	f := mat.NewDense(len(p.networks), len(mean), nil)
	for k, w := range p.networks {
		p.net.Forward(f.RawRowView(k), w, x)
	}
	p.centre(mean, f)
	return f
}

// centre takes the mean over the networks off f and writes it.
func (p *posterior) centre(mean []float64, f *mat.Dense) {
	clear(mean)
	for k := range p.networks {
		linalg.Axpy(1/float64(len(p.networks)), f.RawRowView(k), mean)
	}
	for k := range p.networks {
		linalg.Axpy(-1, mean, f.RawRowView(k))
	}
}

// meanSquares writes the mean square of each column of f.
func (p *posterior) meanSquares(dst []float64, f *mat.Dense) {
	clear(dst)
	for k := range p.networks {
		for i, v := range f.RawRowView(k) {
			dst[i] += v * v / float64(len(p.networks))
		}
	}
}

// Predict costs O(Samples·p) a point.
func (p *posterior) Predict(mean, variance []float64, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), n)
	shape.Len("variance", len(variance), n)
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		p.meanSquares(variance[i:k], p.values(mean[i:k], p.inputs.Apply(x)))
	})
}

// PredictGrad costs about three times Predict.
func (p *posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), n)
	shape.Len("variance", len(variance), n)
	shape.Dims("dmean", dmean, n, p.Dim())
	shape.Dims("dvariance", dvariance, n, p.Dim())
	dmean.Zero()
	dvariance.Zero()
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		_, d := x.Dims()
		u := p.inputs.Apply(x)
		f := p.values(mean[i:k], u)
		p.meanSquares(variance[i:k], f)
		dm, dv := dmean.Slice(i, k, 0, d).(*mat.Dense), dvariance.Slice(i, k, 0, d).(*mat.Dense)
		p.eachGradient(u, func(s int, dx *mat.Dense) {
			for r, e := range f.RawRowView(s) {
				linalg.Axpy(1/float64(len(p.networks)), dx.RawRowView(r), dm.RawRowView(r))
				linalg.Axpy(2*e/float64(len(p.networks)), dx.RawRowView(r), dv.RawRowView(r))
			}
		})
		p.inputs.Pull(dm)
		p.inputs.Pull(dv)
	})
}

// eachGradient calls f with the gradients of each network in its inputs.
func (p *posterior) eachGradient(u *mat.Dense, f func(s int, dx *mat.Dense)) {
	n, d := u.Dims()
	dx := mat.NewDense(n, d, nil)
	var tape nn.Tape
	for s, w := range p.networks {
		tape.Record(p.net, w, u)
		tape.InputGrad(dx)
		f(s, dx)
	}
}

// Joint implements surrogate.Posterior in O(Samples·(p + m)m).
func (p *posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	n := shape.Points(x, p.Dim())
	shape.Len("mean", len(mean), n)
	shape.Dims("cov", cov, n, n)
	linalg.Syrk(cov, 1/float64(len(p.networks)), linalg.T, p.values(mean, p.inputs.Apply(x)), 0)
}

// JointVJP implements surrogate.Posterior.
func (p *posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	n, d := shape.Points(x, p.Dim()), p.Dim()
	shape.Len("mbar", len(mbar), n)
	shape.Dims("cbar", cbar, n, n)
	shape.Dims("dx", dx, n, d)
	u := p.inputs.Apply(x)
	samples := float64(len(p.networks))
	f, fbar, full := p.values(make([]float64, n), u), mat.NewDense(len(p.networks), n, nil), mat.NewDense(n, n, nil)
	full.Copy(cbar)
	linalg.Mul(fbar, 2/samples, linalg.N, f, linalg.N, full, 0)
	grad := mat.NewDense(n, d, nil)
	p.eachGradient(u, func(s int, dx *mat.Dense) {
		for r, b := range fbar.RawRowView(s) {
			linalg.Axpy(b+mbar[r]/samples, dx.RawRowView(r), grad.RawRowView(r))
		}
	})
	p.inputs.Pull(grad)
	dx.Add(dx, grad)
}

// Paths picks networks at random, with replacement.
func (p *posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		paths[i] = path{p, p.networks[rng.IntN(len(p.networks))]}
	}
	return paths
}

type path struct {
	p *posterior
	w []float64
}

// Eval implements surrogate.Path in O(p) a point.
func (q path) Eval(value []float64, grad, x *mat.Dense) {
	n := shape.Points(x, q.p.Dim())
	shape.Len("value", len(value), n)
	if grad == nil {
		q.p.net.Forward(value, q.w, q.p.inputs.Apply(x))
		return
	}
	shape.Dims("grad", grad, n, q.p.Dim())
	t := q.p.net.Record(q.w, q.p.inputs.Apply(x))
	copy(value, t.Value())
	t.InputGrad(grad)
	q.p.inputs.Pull(grad)
}
