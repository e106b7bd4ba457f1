package hmc

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/nuts"
)

// Model is a Bayesian neural network sampled by Hamiltonian Monte Carlo. The zero value
// is the default: one hidden layer of 50 tanh units, precision and noise sampled, four
// chains.
type Model struct {
	Hidden     []int    `set:"hidden" default:"50" help:"widths of the hidden layers"`
	Activation string   `set:"activation" default:"tanh" help:"tanh, relu, gelu, erf or sin"`
	Precision  *float64 `set:"precision" default:"learned" help:"fixes the precision of the Gaussian prior on the weights"`
	Noise      *float64 `set:"noise" default:"learned" help:"fixes the variance of the observation noise"`

	Chains  int     `set:"chains" default:"4" help:"number of chains"`
	Warmup  int     `set:"warmup" default:"100" help:"draws of a chain that adapt step size and mass, then go"`
	Draws   int     `set:"draws" default:"100" help:"draws of a chain that count, at least 8"`
	Samples int     `set:"samples" default:"100" help:"largest number of networks that the posterior consists of"`
	Accept  float64 `set:"accept" default:"0.8" help:"mean acceptance that step sizes aim at, below 1"`
	Depth   int     `set:"depth" default:"8" help:"a trajectory has fewer than 2^depth steps; at most 20"`
	Begin   string  `set:"start" default:"map" help:"where chains start: map (each at a maximum of the posterior of its own) or random (weights as for training)"`
}

var _ surrogate.Model = Model{}

const (
	minDraws = 8
	maxDepth = 20
)

func (m Model) withDefaults() (Model, mapnet.Settings, error) {
	if m.Hidden == nil {
		m.Hidden = []int{50}
	}
	s, err := mapnet.Settings{Hidden: m.Hidden, Activation: m.Activation, Precision: m.Precision, Noise: m.Noise}.WithDefaults()
	if err = cmp.Or(err,
		settings.Choose("start", &m.Begin, "map", "random"), settings.Positive("accept", m.Accept),
		settings.Positive("chains", m.Chains), settings.Positive("warmup", m.Warmup), settings.Positive("draws", m.Draws),
		settings.Networks("samples", m.Samples), settings.Positive("depth", m.Depth),
	); err != nil {
		return m, s, fmt.Errorf("hmc: %w", err)
	}
	m.Chains = cmp.Or(m.Chains, 4)
	m.Warmup = cmp.Or(m.Warmup, 100)
	m.Draws = cmp.Or(m.Draws, 100)
	m.Samples = cmp.Or(m.Samples, 100)
	m.Accept = cmp.Or(m.Accept, 0.8)
	m.Depth = cmp.Or(m.Depth, 8)
	switch {
	case m.Draws < minDraws:
		return m, s, fmt.Errorf("hmc: draws is %d, want at least %d", m.Draws, minDraws)
	case m.Accept >= 1:
		return m, s, fmt.Errorf("hmc: accept is %v, want a probability below 1", m.Accept)
	case m.Depth > maxDepth:
		return m, s, fmt.Errorf("hmc: depth is %d, want at most %d", m.Depth, maxDepth)
	}
	return m, s, nil
}

// Check reports settings that cannot be fitted, whatever the data: Fit would
// return the same error.
func (m Model) Check(int) error {
	_, _, err := m.withDefaults()
	return err
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, settings, err := m.withDefaults()
	if err != nil {
		return nil, err
	}
	p, err := mapnet.New(settings, d)
	if err != nil {
		return nil, err
	}
	starts, err := m.starts(ctx, p, random.Split(rng, "start", 0))
	if err != nil {
		return nil, fmt.Errorf("hmc: %w", err)
	}
	chains, err := m.sample(ctx, p, starts, random.Split(rng, "chains", 0))
	if err != nil {
		return nil, fmt.Errorf("hmc: %w", err)
	}
	surrogate.Report(ctx, surrogate.Progress{Phase: "diagnosis"})
	post, err := m.summarize(ctx, p, chains, d, random.Split(rng, "points", 0))
	if err != nil {
		return nil, fmt.Errorf("hmc: %w", err)
	}
	return post, nil
}

// starts returns the start of each chain.
func (m Model) starts(ctx context.Context, p *mapnet.Problem, rng *rand.Rand) ([][]float64, error) {
	t, starts := newPosterior(p), make([][]float64, m.Chains)
	for k := range starts {
		rng := random.Split(rng, "chain", k)
		w, h := p.Start(nil, rng)
		if m.Begin == "map" {
			report := surrogate.WithProgress(ctx, func(r surrogate.Progress) {
				r.Phase = fmt.Sprintf("start of chain %d of %d", k+1, m.Chains)
				surrogate.Report(ctx, r)
			})
			f, err := p.Fit(report, p.Cheap(), w, h, rng)
			if err != nil {
				return nil, err
			}
			w, h = f.W, f.Hypers
		}
		starts[k] = t.pack(w, h)
	}
	return starts, nil
}

// sample runs the chains, at most GOMAXPROCS at a time.
func (m Model) sample(ctx context.Context, p *mapnet.Problem, starts [][]float64, rng *rand.Rand) ([]*nuts.Chain, error) {
	settings := nuts.Settings{Warmup: m.Warmup, Draws: m.Draws, Accept: m.Accept, Depth: m.Depth}
	chains, errs := make([]*nuts.Chain, m.Chains), make([]error, m.Chains)
	ticks, turn := make(chan struct{}), make(chan struct{}, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for k, start := range starts {
		rng := random.Split(rng, "chain", k)
		group.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			chains[k], errs[k] = nuts.Sample(ctx, newPosterior(p).logDensity, start, settings, rng, func() { ticks <- struct{}{} })
		})
	}
	go func() {
		group.Wait()
		close(ticks)
	}()
	done, total := 0, m.Chains*(m.Warmup+m.Draws)
	for range ticks {
		done++
		surrogate.Report(ctx, surrogate.Progress{Phase: "sample", Done: done, Total: total})
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return chains, nil
}

// summarize returns the posterior that consists of draws of the chains.
func (m Model) summarize(ctx context.Context, p *mapnet.Problem, chains []*nuts.Chain, d surrogate.Dataset, rng *rand.Rand) (*mixture.Posterior, error) {
	var (
		t               = newPosterior(p)
		draws           [][]float64
		divergent, full int
		steps, accept   float64
		mean            mapnet.Hypers
	)
	post := &mixture.Posterior{Net: p.Net, Inputs: p.Inputs, Shift: p.Shift}
	for _, c := range chains {
		draws = append(draws, c.Draws...)
		divergent += c.Divergent
		full += c.Saturated
		steps += c.Steps / float64(len(chains))
		accept += c.Accept / float64(len(chains))
	}
	samples := min(m.Samples, len(draws))
	networks := make([][]float64, len(draws))
	for i, q := range draws {
		w, h, err := t.network(q, rng)
		if err != nil {
			return nil, err
		}
		networks[i] = w
		mean.Precision += h.Precision / float64(len(draws))
		mean.Noise += h.Noise / float64(len(draws))
		// Keep draw i if i·samples/draws passes an integer.
		if i*samples%len(draws) < samples {
			post.Weights = append(post.Weights, w)
		}
	}
	rhat, ess, err := agreement(ctx, p, networks, len(chains), points(d, rng))
	if err != nil {
		return nil, err
	}
	post.NoiseVariance = mean.Noise
	post.Parameters = []surrogate.Hyper{
		{Name: "precision", Value: mean.Precision}, {Name: "noise", Value: mean.Noise}, {Name: "networks", Value: float64(samples)},
		{Name: "rhat", Value: rhat}, {Name: "ess", Value: ess}, {Name: "acceptance", Value: accept}, {Name: "leapfrog steps", Value: steps},
	}
	if rhat > maxRHat {
		post.Notes = append(post.Notes, fmt.Sprintf("the chains have not converged: R̂ is %.2f, want at most %v; variances are unreliable: increase warmup and draws", rhat, maxRHat))
	}
	if divergent*50 > len(draws) {
		post.Notes = append(post.Notes, fmt.Sprintf("%d of %d trajectories diverged: variances may be wrong; increase accept", divergent, len(draws)))
	}
	if full*10 > len(draws) {
		post.Notes = append(post.Notes, fmt.Sprintf("%d of %d trajectories reached the largest length: draws are correlated; increase depth above %d", full, len(draws), m.Depth))
	}
	return post, nil
}
