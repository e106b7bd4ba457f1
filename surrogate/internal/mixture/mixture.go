// Package mixture implements the posterior in which f is one of M networks with equal
// probabilities: the members of an ensemble, or samples from an approximate posterior.
//
// Its moments are the moments of the functions f_1 … f_M,
//
//	mean(x)   = (1/M) Σ_k f_k(x)
//	cov(x,x') = (1/M) Σ_k (f_k(x) - mean(x)) (f_k(x') - mean(x'))
//
// and a path is a random one of the functions.
package mixture

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// Posterior is a surrogate.Posterior of Shift + f(x,w), with w one of Weights. Its fields
// must not change while it is in use.
type Posterior struct {
	Net     *nn.Network
	Inputs  domain.Affine
	Shift   float64
	Weights [][]float64
	summary.Summary
}

var (
	_ surrogate.Stater          = (*Posterior)(nil)
	_ surrogate.Describer       = (*Posterior)(nil)
	_ surrogate.WeightPosterior = (*Posterior)(nil)
)

// Draw returns n weight vectors from N(m, S) in antithetic pairs m ± S^½ε. S is diag s²
// for the first len(s) weights and UUᵀ for the others; ut is Uᵀ.
func Draw(m, s []float64, ut *mat.Dense, n int, rng *rand.Rand) [][]float64 {
	out, eps := make([][]float64, n), make([]float64, len(m))
	for k := range out {
		w := slices.Clone(m)
		out[k] = w
		if k%2 == 1 {
			for i, v := range out[k-1] {
				w[i] = 2*m[i] - v
			}
			continue
		}
		random.Normal(eps, rng)
		for i, s := range s {
			w[i] += s * eps[i]
		}
		if h := len(s); h < len(m) {
			linalg.MulVec(w[h:], 1, linalg.T, ut, eps[h:], 1)
		}
	}
	return out
}

// chunk is the number of points of one pass through the networks.
const chunk = 512

func (p *Posterior) Dim() int { return p.Net.In }

// centred writes the mean at the rows of u, in the networks' units, and returns the M×m
// values minus their mean. Unless grads is nil, it stores the gradient of each network
// there.
func (p *Posterior) centred(mean []float64, u *mat.Dense, grads []*mat.Dense) *mat.Dense {
	m, d := u.Dims()
	values := mat.NewDense(len(p.Weights), m, nil)
	tape := new(nn.Tape)
	for k, w := range p.Weights {
		row := values.RawRowView(k)
		if grads == nil {
			p.Net.Forward(row, w, u)
			continue
		}
		tape.Record(p.Net, w, u)
		copy(row, tape.Value())
		grads[k] = mat.NewDense(m, d, nil)
		tape.InputGrad(grads[k])
	}
	clear(mean)
	for k := range p.Weights {
		linalg.Axpy(1/float64(len(p.Weights)), values.RawRowView(k), mean)
	}
	for k := range p.Weights {
		linalg.Axpy(-1, mean, values.RawRowView(k))
	}
	floats.AddConst(p.Shift, mean)
	return values
}

// variances writes the mean squares of the columns.
func variances(dst []float64, centred *mat.Dense) {
	clear(dst)
	n, _ := centred.Dims()
	for k := range n {
		for i, v := range centred.RawRowView(k) {
			dst[i] += v * v / float64(n)
		}
	}
}

// Predict costs M passes of the network per point.
func (p *Posterior) Predict(mean, variance []float64, x *mat.Dense) {
	shape.Predict(mean, variance, x, p.Dim())
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		variances(variance[i:k], p.centred(mean[i:k], p.Inputs.Apply(x), nil))
	})
}

// PredictGrad costs M forward and backward passes of the network per point.
func (p *Posterior) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	shape.PredictGrad(mean, variance, dmean, dvariance, x, p.Dim())
	dmean.Zero()
	dvariance.Zero()
	each := 1 / float64(len(p.Weights))
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		grads := make([]*mat.Dense, len(p.Weights))
		f := p.centred(mean[i:k], p.Inputs.Apply(x), grads)
		variances(variance[i:k], f)
		dm, dv := shape.Rows(dmean, i, k), shape.Rows(dvariance, i, k)
		for j, g := range grads {
			for r, v := range f.RawRowView(j) {
				linalg.Axpy(each, g.RawRowView(r), dm.RawRowView(r))
				linalg.Axpy(2*each*v, g.RawRowView(r), dv.RawRowView(r))
			}
		}
		p.Inputs.Pull(dm)
		p.Inputs.Pull(dv)
	})
}

// Joint costs O(m²M) in addition to Predict.
func (p *Posterior) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	shape.Joint(mean, cov, x, p.Dim())
	f := p.centred(mean, p.Inputs.Apply(x), nil)
	linalg.Syrk(cov, 1/float64(len(p.Weights)), linalg.T, f, 0)
}

// JointVJP costs O(m²M) in addition to PredictGrad. The adjoint of f_k(x_i) is
// (mbar_i + 2 Σ_j cbar_ij (f_k(x_j) - mean_j))/M.
func (p *Posterior) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	m, d := shape.JointVJP(dx, mbar, cbar, x, p.Dim()), p.Dim()
	grads := make([]*mat.Dense, len(p.Weights))
	f := p.centred(make([]float64, m), p.Inputs.Apply(x), grads)
	full, bar := mat.DenseCopyOf(cbar), mat.NewDense(len(p.Weights), m, nil)
	linalg.Mul(bar, 2, linalg.N, f, linalg.N, full, 0)
	sum := mat.NewDense(m, d, nil)
	for k, g := range grads {
		for i, b := range bar.RawRowView(k) {
			linalg.Axpy((mbar[i]+b)/float64(len(p.Weights)), g.RawRowView(i), sum.RawRowView(i))
		}
	}
	p.Inputs.Pull(sum)
	dx.Add(dx, sum)
}

// Paths draws networks with replacement.
func (p *Posterior) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := make([]surrogate.Path, n)
	for i := range paths {
		paths[i] = p.WithWeights(p.Weights[rng.IntN(len(p.Weights))])
	}
	return paths
}

// WithWeights implements surrogate.WeightPosterior.
func (p *Posterior) WithWeights(w []float64) surrogate.Path {
	return Path(p.Net, p.Inputs, p.Shift, w)
}

// WeightMoments implements surrogate.WeightPosterior with the moments of the M weight vectors.
func (p *Posterior) WeightMoments() (mean []float64, cov *mat.SymDense) {
	n, m := p.Net.NumParams(), len(p.Weights)
	mean, cov = make([]float64, n), mat.NewSymDense(n, nil)
	centred := mat.NewDense(m, n, nil)
	for _, w := range p.Weights {
		linalg.Axpy(1/float64(m), w, mean)
	}
	for k, w := range p.Weights {
		floats.SubTo(centred.RawRowView(k), w, mean)
	}
	linalg.Syrk(cov, 1/float64(m), linalg.T, centred, 0)
	return mean, cov
}

// SampleWeights implements surrogate.WeightPosterior. It draws with replacement.
func (p *Posterior) SampleWeights(n int, rng *rand.Rand) *mat.Dense {
	if n == 0 {
		return new(mat.Dense)
	}
	out := mat.NewDense(n, p.Net.NumParams(), nil)
	for i := range n {
		out.SetRow(i, p.Weights[rng.IntN(len(p.Weights))])
	}
	return out
}

// Path returns shift + f(inputs(x), w).
func Path(net *nn.Network, inputs domain.Affine, shift float64, w []float64) surrogate.Path {
	return path{net, inputs, shift, w}
}

type path struct {
	net    *nn.Network
	inputs domain.Affine
	shift  float64
	w      []float64
}

// Eval implements surrogate.Path with one pass of the network per point.
func (q path) Eval(value []float64, grad, x *mat.Dense) {
	shape.Eval(value, grad, x, q.net.In)
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		u := q.inputs.Apply(x)
		if grad == nil {
			q.net.Forward(value[i:k], q.w, u)
		} else {
			t := q.net.Record(q.w, u)
			copy(value[i:k], t.Value())
			dx := shape.Rows(grad, i, k)
			t.InputGrad(dx)
			q.inputs.Pull(dx)
		}
		floats.AddConst(q.shift, value[i:k])
	})
}
