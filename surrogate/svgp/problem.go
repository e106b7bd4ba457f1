package svgp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/linalg"
	"github.com/functionspace/bo/internal/optimize"
	"github.com/functionspace/bo/internal/subset"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/domain"
	"github.com/functionspace/bo/surrogate/internal/hyper"
	"github.com/functionspace/bo/surrogate/internal/inducing"
	"github.com/functionspace/bo/surrogate/internal/pathwise"
	"github.com/functionspace/bo/surrogate/internal/summary"
)

// The exact fit of the hyperparameters uses at most startRows observations. It may have
// lengthscales too short for the inducing points. Minibatches therefore start from a
// collapsed fit to at most secondRows observations.
const (
	startRows  = 500
	secondRows = 5000
)

// leastNoise is the lower bound of the noise variance beyond startRows observations. The prior's bound,
// for few observations, is larger.
const leastNoise = 1e-6

// problem is one fit. Its variable is a vector of the logarithms of the free
// hyperparameters followed, if they are learned, by the inducing points.
type problem struct {
	Model
	data
	shift     float64
	noiseFree bool
	lo, hi    []float64  // box of the dataset
	draws     domain.Box // of functions drawn from the prior

	hyper hyper.Vector
	z     *mat.Dense // inducing points, or their initial values
}

func newProblem(m Model, d surrogate.Dataset) (*problem, error) {
	p := &problem{Model: m, noiseFree: d.NoiseFree, data: data{x: mat.DenseCopyOf(d.X), y: slices.Clone(d.Y), learnMean: m.Mean != prior.MeanZero}}
	p.lo, p.hi = d.Box()
	p.draws = domain.DrawBox(d)
	var err error
	if p.hyper, err = p.hyperparameters(m.Spec); err != nil {
		return nil, err
	}
	if p.learnMean {
		p.shift = linalg.Mean(p.y)
		floats.AddConst(-p.shift, p.y)
	}
	return p, nil
}

// hyperparameters returns the hyperparameters of a Spec for the data.
func (p *problem) hyperparameters(s prior.Spec) (hyper.Vector, error) {
	_, dim := p.x.Dims()
	h, err := hyper.New(s, dim, p.noiseFree)
	if err != nil {
		return h, err
	}
	if noise := &h.Params[len(h.Params)-1]; len(p.y) > startRows && !noise.Fixed {
		noise.Lo = min(noise.Lo, leastNoise)
	}
	return h, nil
}

// solve returns the posterior, with the warnings of the prior's fit at the final hyperparameters and
// the observations of the first fit.
func (p *problem) solve(ctx context.Context, start surrogate.State, rng *rand.Rand) (*inducing.Posterior, error) {
	surrogate.Report(ctx, surrogate.Progress{Phase: "prior"})
	n, _ := p.x.Dims()
	few := p.some(startRows, rng)
	fitted, err := p.Spec.Fit(ctx, few.x, few.y, p.noiseFree, start, rng)
	if err != nil {
		return nil, err
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "inducing points"})
	if p.z, err = choose(ctx, p.Selection, fitted.Kernel, p.x, p.lo, p.hi, p.inducing(n), rng); err != nil {
		return nil, err
	}

	v := slices.Clone(fitted.State)
	smooth := fitted.WhiteAsNoise(p.x)
	white := smooth.Noise != fitted.Noise
	if white {
		if p, v, err = p.withoutWhite(fitted.Process, smooth); err != nil {
			return nil, err
		}
	}
	if p.LearnInducing {
		m, _ := p.z.Dims()
		for i := range m {
			v = append(v, p.z.RawRowView(i)...)
		}
	}
	var warnings []string
	switch {
	case len(v) == 0:
	case p.Bound == "minibatch" || p.Bound == "" && n > collapsedRows:
		if v, _, err = p.some(min(secondRows, (n+1)/2), rng).maximise(ctx, v); err == nil {
			v, err = p.minibatch(ctx, v, rng)
		}
	default:
		v, warnings, err = p.maximise(ctx, v)
	}
	if err != nil {
		return nil, err
	}
	process, z := p.unpack(v)
	c, err := newCollapsed(ctx, p.data, process, z)
	if err != nil {
		return nil, err
	}

	free := v[:len(p.hyper.Free)]
	state := fitted.State
	if !white {
		state = slices.Clone(free)
	}
	if at, err := p.Spec.At(ctx, few.x, few.y, p.noiseFree, free); err == nil {
		warnings = slices.Concat(at.Warnings, warnings)
	} else if ctx.Err() != nil {
		return nil, err
	}
	c.Process.Mean += p.shift
	c.Lo, c.Hi = p.draws.Lo, p.draws.Hi
	post := &inducing.Posterior{
		Conditional: pathwise.Conditional{Basis: c.Basis}, B: c.b, M: c.m, Bound: c.value,
		Summary: summary.Summary{Learned: state, Notes: warnings},
	}
	return post.Prepare(), nil
}

// withoutWhite returns the problem of the smooth process of a first fit, whose noise variance includes the white noise of the
// kernel, and its vector. Values at inducing points tell nothing of white noise: as a part of the kernel it would be a large
// residual in the bound. The noise variance is at least the sum of the fixed parts, and fixed if both parts are.
func (p *problem) withoutWhite(first, smooth prior.Process) (*problem, []float64, error) {
	q, spec := *p, prior.Spec{Custom: smooth.Kernel, Mean: p.Mean}
	h, err := p.hyperparameters(spec)
	if err != nil {
		return nil, nil, err
	}
	ofKernel := len(p.hyper.Free)
	if p.Noise == nil {
		ofKernel--
	}
	noise := &h.Params[len(h.Params)-1]
	switch fixed := len(h.Free)-1 == ofKernel; {
	case fixed && p.Noise != nil:
		spec.Noise = &smooth.Noise
		if h, err = p.hyperparameters(spec); err != nil {
			return nil, nil, err
		}
	case fixed:
		noise.Lo = max(noise.Lo, smooth.Noise-first.Noise)
	case p.Noise != nil:
		noise.Lo = max(noise.Lo, first.Noise)
	}
	q.Spec, q.hyper = spec, h
	var v []float64
	for _, at := range h.Free {
		value := smooth.Noise
		if at < len(h.Params)-1 {
			value = h.Params[at].Value
		}
		v = append(v, math.Log(value))
	}
	return &q, v, nil
}

// some returns the problem of at most k random observations.
func (p *problem) some(k int, rng *rand.Rand) *problem {
	q := *p
	q.x, q.y = subset.AtMost(p.x, p.y, k, rng)
	return &q
}

// unpack returns the process of mean 0 and the inducing points at v.
func (p *problem) unpack(v []float64) (prior.Process, *mat.Dense) {
	z := p.z
	if rest := v[len(p.hyper.Free):]; len(rest) > 0 {
		m, d := p.z.Dims()
		z = mat.NewDense(m, d, slices.Clone(rest))
	}
	return p.hyper.Process(v), z
}

// derivatives returns zeros for the derivatives with respect to the kernel's log hyperparameters
// and, if they are learned, the inducing points.
func (p *problem) derivatives() (dtheta []float64, dz *mat.Dense) {
	if p.LearnInducing {
		m, d := p.z.Dims()
		dz = mat.NewDense(m, d, nil)
	}
	return make([]float64, len(p.hyper.Params)-1), dz
}

// pack writes minus the gradient of the objective plus the log hyperpriors with respect
// to v, given the derivatives of the objective. It returns minus the log hyperpriors.
func (p *problem) pack(grad, v, dtheta []float64, dnoise float64, dz *mat.Dense) float64 {
	process, _ := p.unpack(v)
	dloss := append(slices.Clone(dtheta), dnoise*process.Noise)
	floats.Scale(-1, dloss)
	if dz != nil {
		for i, g := range dz.RawMatrix().Data {
			grad[len(p.hyper.Free)+i] = -g
		}
	}
	return p.hyper.Penalize(0, grad, v, dloss)
}

// loss returns minus the sum of the collapsed bound and the log hyperpriors, and
// writes its gradient.
func (p *problem) loss(ctx context.Context, v, grad []float64) float64 {
	process, z := p.unpack(v)
	c, err := newCollapsed(ctx, p.data, process, z)
	if err != nil {
		return math.Inf(1)
	}
	dtheta, dz := p.derivatives()
	dnoise, err := c.gradient(ctx, p.data, dtheta, dz)
	if err != nil {
		return math.Inf(1)
	}
	return p.pack(grad, v, dtheta, dnoise, dz) - c.value
}

// maximise maximises the collapsed bound from v by L-BFGS.
func (p *problem) maximise(ctx context.Context, v []float64) ([]float64, []string, error) {
	lo, hi := p.hyper.Bounds(len(v), math.Inf(1))
	steps, done := 100, 0
	if p.Bound != "minibatch" {
		steps = cmp.Or(p.Steps, steps)
	}
	loss := func(v, grad []float64) float64 {
		surrogate.Report(ctx, surrogate.Progress{Phase: "bound", Done: min(done, steps), Total: steps})
		done++
		return p.loss(ctx, v, grad)
	}
	// Only the context's error is possible, which is checked below.
	result, _ := optimize.Minimize(ctx, loss, v, lo, hi, optimize.Settings{MaxIter: steps, GradTol: 1e-3, FuncTol: 1e-7})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var warnings []string
	if !result.Converged && result.Iterations >= steps {
		warnings = []string{fmt.Sprintf("training stopped at %d steps before it converged, the fit may be poor: set steps higher", steps)}
	}
	return result.X, warnings, nil
}
