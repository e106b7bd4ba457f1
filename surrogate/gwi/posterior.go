package gwi

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/shape"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/inducing"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// chunk is the number of points in one pass of the network.
const chunk = 256

// posterior is q with a summary of the fit.
type posterior struct {
	surrogate.Posterior
	summary.Summary
}

var (
	_ surrogate.Stater    = (*posterior)(nil)
	_ surrogate.Describer = (*posterior)(nil)
)

func (p *posterior) Noise() float64     { return p.Summary.Noise() }
func (p *posterior) Warnings() []string { return p.Summary.Warnings() }

// posterior returns q with its variances and the noise variance multiplied by a temperature t.
// The kernel is then t·k, and w is √t·w.
func (p *problem) posterior(t float64) (*posterior, error) {
	process := p.q.Process
	process.Noise = p.v.Noise() * t
	basis := pathwise.Basis{Process: process, Z: p.q.Z, L: p.q.L}
	if t != 1 {
		process.Kernel = prior.ScaleBy(t, process.Kernel)
		var err error
		if basis, err = pathwise.NewBasis(process, p.q.Z); err != nil {
			return nil, err
		}
	}
	draws := domain.DrawBox(p.data)
	basis.Lo, basis.Hi = draws.Lo, draws.Hi
	q := &inducing.Posterior{Conditional: pathwise.Conditional{Basis: basis}, B: p.q.B, T: p.v.Ut}
	out := &posterior{Posterior: q, Summary: summary.Summary{NoiseVariance: process.Noise, Notes: p.notes, Parameters: p.q.Hypers(), Learned: summary.EncodeState(p.q.State(), nil)}}
	for i := range out.Parameters {
		if out.Parameters[i].Name == "noise" {
			out.Parameters[i].Value = process.Noise
		}
	}
	if *p.HeldOut > 0 {
		out.Parameters = append(out.Parameters, surrogate.Hyper{Name: "temperature", Value: t})
	}
	if p.net == nil {
		q.M = slices.Clone(p.v.M)
		p.q.B.SolveUpperVec(q.M)
		for i := range q.M {
			q.M[i] /= math.Sqrt(t)
		}
		q.Prepare()
		return out, nil
	}
	q.Process.Mean = 0
	q.Prepare()
	out.Posterior = &withNetwork{q, p.net, p.objective.mean.(*networkMean).inputs, slices.Clone(p.v.M)}
	out.Learned = summary.EncodeState(p.q.State(), p.v.M)
	return out, nil
}

// withNetwork is a process with mean 0 plus a network.
type withNetwork struct {
	surrogate.Posterior
	net    *nn.Network
	inputs domain.Affine
	w      []float64
}

// add adds the network to mean and, unless dmean is nil, its gradient to dmean.
func (p *withNetwork) add(mean []float64, dmean, x *mat.Dense) {
	_, d := x.Dims()
	shape.Chunks(x, chunk, func(i, k int, x *mat.Dense) {
		value, u := make([]float64, k-i), p.inputs.Apply(x)
		if dmean == nil {
			p.net.Forward(value, p.w, u)
		} else {
			t := p.net.Record(p.w, u)
			copy(value, t.Value())
			dx := mat.NewDense(k-i, d, nil)
			t.InputGrad(dx)
			p.inputs.Pull(dx)
			part := shape.Rows(dmean, i, k)
			part.Add(part, dx)
		}
		linalg.Axpy(1, value, mean[i:k])
	})
}

// Predict costs one pass of the network per point in addition to the process.
func (p *withNetwork) Predict(mean, variance []float64, x *mat.Dense) {
	p.Posterior.Predict(mean, variance, x)
	p.add(mean, nil, x)
}

// PredictGrad costs two passes of the network per point in addition to the process.
func (p *withNetwork) PredictGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p.Posterior.PredictGrad(mean, variance, dmean, dvariance, x)
	p.add(mean, dmean, x)
}

func (p *withNetwork) Joint(mean []float64, cov *mat.SymDense, x *mat.Dense) {
	p.Posterior.Joint(mean, cov, x)
	p.add(mean, nil, x)
}

func (p *withNetwork) JointVJP(dx *mat.Dense, mbar []float64, cbar *mat.SymDense, x *mat.Dense) {
	p.Posterior.JointVJP(dx, mbar, cbar, x)
	n, d := x.Dims()
	grad := mat.NewDense(n, d, nil)
	p.add(make([]float64, n), grad, x)
	for i, b := range mbar {
		linalg.Axpy(b, grad.RawRowView(i), dx.RawRowView(i))
	}
}

// Paths draws paths of the process and adds the network.
func (p *withNetwork) Paths(n int, rng *rand.Rand) []surrogate.Path {
	paths := p.Posterior.Paths(n, rng)
	for i := range paths {
		paths[i] = path{paths[i], p}
	}
	return paths
}

type path struct {
	surrogate.Path
	p *withNetwork
}

func (q path) Eval(value []float64, grad, x *mat.Dense) {
	q.Path.Eval(value, grad, x)
	q.p.add(value, grad, x)
}
