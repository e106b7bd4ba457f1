package laplace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/internal/nn"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/classify"
	"github.com/functionspace/bo/surrogate/internal/linearized"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
)

// FitLabels fits the linearised Laplace approximation with the likelihood of labels. Each
// latent function is a network f_c(·,w_c), w_c ~ N(0, I/δ), plus the constant log-odds of the
// frequency of its class. Training maximises
//
//	log p(y|f) - ½ δ Σ|w_c|².
//
// The latent functions have the means f_c. Their covariance is the posterior covariance of
// Gaussian processes with the tangent kernels J_c(x)J_c(x')ᵀ/δ, for the curvature W of the
// likelihood at the maximum. This is the generalised Gauss–Newton posterior, in which W
// couples the classes.
// δ maximises
//
//	log p(y|f) - ½ δ Σ|w_c|² - ½ log|I + W J Jᵀ/δ|
//
// plus the log prior of regression. With the published preset δ is constant, the networks have no
// added constants, and training ends early as in regression. For more than two classes the curvatures "kron" and
// "diagonal" omit the coupling. A fixed noise variance is an error, and so are more than 5000
// labels with "full". Defaults that depend on the number of observations use the number of
// labels times the number of latent functions.
func (m Model) FitLabels(ctx context.Context, d surrogate.Labels, rng *rand.Rand) (surrogate.ClassPosterior, error) {
	m, err := m.resolve()
	if err != nil {
		return nil, err
	}
	if m.Noise != nil {
		return nil, fmt.Errorf("laplace: %w", classify.ErrNoise)
	}
	if m.HeldOut > 0 {
		return nil, settings.Errorf("laplace: held-out is %v, but labels are not held out", m.HeldOut)
	}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	n, _ := d.Dims()
	if m.Curvature == mapnet.Full && n > maxDual {
		return nil, fmt.Errorf("laplace: the full curvature of %[2]d labels is too large, want at most %[1]d: choose curvature=%[3]s", maxDual, n, m.Factored())
	}
	m.Noise = new(1.) // package mapnet computes covariances from precision and noise
	net, err := m.problem(surrogate.Dataset{X: d.X, Y: make([]float64, n), Lo: d.Lo, Hi: d.Hi})
	if err != nil {
		return nil, fmt.Errorf("laplace: %w", err)
	}
	p := &labelProblem{Problem: net, curvature: m.Curvature, published: m.Preset == surrogate.Published, labels: slices.Clone(d.Y), l: classify.Latents(d.Classes)}
	p.shift = make([]float64, p.l)
	if !p.published {
		p.shift = logOdds(d.Y, d.Classes)
	}
	var best *trained
	for i := range m.restarts(p.few()) {
		f, err := p.train(ctx, random.Split(rng, "training", i))
		if err != nil {
			return nil, fmt.Errorf("laplace: %w", err)
		}
		if best == nil || f.merit > best.merit {
			best = f
		}
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "covariance"})
	process, err := p.process(best)
	if err != nil {
		return nil, fmt.Errorf("laplace: %w", err)
	}
	numbers := append([]surrogate.Hyper{{Name: "precision", Value: best.precision}}, classify.MeanHypers(p.shift)...)
	post := classify.Posterior{Process: process, Labels: d.Classes, Numbers: numbers, Notes: best.notes, Evidence: &best.evidence}
	return classify.WithEvidence{Posterior: post}, nil
}

// maxDual is the largest number of labels for the full curvature.
const maxDual = 5000

// process returns the latent functions after training.
func (p *labelProblem) process(f *trained) (classify.Process, error) {
	l := &latents{precision: f.precision, factor: f.factor, tapes: f.tapes}
	var apart classify.Independent
	for c, w := range f.w {
		l.nets = append(l.nets, linearized.Network{Net: p.Net, Inputs: p.Inputs, W: w, Shift: p.shift[c]})
		if f.factor == nil {
			cov, err := f.curvatures[c].Covariance(mapnet.Hypers{Precision: f.precision, Noise: 1})
			if err != nil {
				return nil, err
			}
			apart = append(apart, &linearized.Posterior{Network: l.nets[c], Cov: cov})
		}
	}
	if f.factor == nil {
		return apart, nil
	}
	return l, nil
}

// latents holds the processes with the tangent kernels of the networks, given labels.
type latents struct {
	nets      []linearized.Network
	precision float64
	factor    *classify.Factor
	tapes     []*nn.Tape // networks, recorded at the labelled points
}

func (l *latents) Dim() int { return l.nets[0].Dim() }

// Moments implements classify.Process, in O(L(nΣ_l h_l + n²)) per point.
func (l *latents) Moments(mean, cov, x *mat.Dense) {
	m, _ := x.Dims()
	k := len(l.nets)
	column, q := make([]float64, m), make([]*mat.Dense, k)
	for c, p := range l.nets {
		t := p.Record(x)
		defer t.Return()
		p.Mean(column, t)
		mean.SetCol(c, column)
		q[c] = l.cross(c, t)
		nn.KernelDiag(column, t)
		for i, v := range column {
			cov.Set(i, c*k+c, v/l.precision)
		}
	}
	l.factor.Reduce(cov, q)
}

// cross returns the prior covariance of the labelled points with the points of t, n×m.
func (l *latents) cross(c int, t *nn.Tape) *mat.Dense {
	q := mat.NewDense(l.tapes[c].Len(), t.Len(), nil)
	nn.Kernel(q, l.tapes[c], t)
	q.Scale(1/l.precision, q)
	return q
}

func (l *latents) MomentsGrad(mean, variance []float64, dmean, dvariance, x *mat.Dense) {
	p := l.nets[0]
	t := p.Record(x)
	defer t.Return()
	p.Mean(mean, t)
	dmean.Zero()
	t.InputGrad(dmean)
	p.Inputs.Pull(dmean)

	q := l.cross(0, t)
	nn.KernelDiag(variance, t)
	direct := make([]float64, len(variance))
	for i := range variance {
		variance[i] /= l.precision
		direct[i] = 1 / l.precision
	}
	kbar := l.factor.ReduceGrad(variance, q)
	kbar.Scale(1/l.precision, kbar)
	dvariance.Zero()
	nn.KernelDiagVJP(dvariance, t, direct)
	nn.KernelVJP(dvariance, t, l.tapes[0], kbar)
	p.Inputs.Pull(dvariance)
}
