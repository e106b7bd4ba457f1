package hmc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/functionspace/bo/internal/parallel"
	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/nuts"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// Model is a Bayesian neural network sampled by Hamiltonian Monte Carlo. The zero value
// is the default: one hidden layer of 50 tanh units, sampled precision and noise
// variance, four chains.
type Model struct {
	surrogate.Network `default:"hidden=50"`

	Precision *float64 `set:"precision" auto:"learned" range:"[1e-10,1e100]" help:"fixes the precision of the Gaussian prior on the weights"`
	Noise     *float64 `set:"noise" auto:"learned" range:"[1e-10,1e100]" help:"fixes the variance of the observation noise, as a share of the variance of the values, or of their differences from prior_mean; of raw outputs in their squared unit"`

	Chains  int     `set:"chains" default:"4" range:"[1,1000]" help:"number of chains"`
	Warmup  int     `set:"warmup" default:"100" range:"[1,1000000]" help:"draws of a chain to adapt step size and mass, which are discarded"`
	Draws   int     `set:"draws" default:"100" range:"[8,1000000]" help:"draws of a chain after warm-up"`
	Samples int     `set:"samples" default:"100" range:"[2,100000]" help:"largest number of networks in the posterior"`
	Accept  float64 `set:"accept" default:"0.8" range:"(0,1)" help:"target of the mean acceptance probability"`
	Depth   int     `set:"depth" default:"8" range:"[1,20]" help:"a trajectory has fewer than 2^depth steps"`
	Start   string  `set:"start" default:"map" oneof:"map,random" help:"start of a chain: map, its own local maximum of the posterior; random, initial weights of training"`
}

var _ surrogate.Model = Model{}

// Stated implements surrogate.PriorStater. A fixed precision or noise variance refers to
// the values without a transform.
func (m Model) Stated() bool { return m.network().Stated() }

func (m Model) network() mapnet.Network {
	return mapnet.Network{Hidden: m.Hidden, Activation: m.Activation, Architecture: m.Architecture, Precision: m.Precision, Noise: m.Noise}
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve("hmc", m)
	if err != nil {
		return nil, err
	}
	p, err := mapnet.New(mapnet.Settings{Network: m.network()}, d)
	if err != nil {
		return nil, err
	}
	if p.Net.Outputs() == 0 {
		return nil, settings.Errorf("hmc: the architecture is affine in no weights, want a linear output layer")
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
		if m.Start == "map" {
			phase := fmt.Sprintf("start of chain %d of %d", k+1, m.Chains)
			f, err := p.Fit(train.WithPhase(ctx, phase), p.Cheap(), w, h, rng)
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
	ticks, turn := make(chan struct{}), make(chan struct{}, parallel.Workers())
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
		post.Notes = append(post.Notes, fmt.Sprintf("the chains have not converged (R̂ %.2f > %v), moments may be wrong: set warmup and draws higher", rhat, maxRHat))
	}
	if divergent*50 > len(draws) {
		post.Notes = append(post.Notes, fmt.Sprintf("%d of %d trajectories diverged, variances may be wrong: set accept higher", divergent, len(draws)))
	}
	if full*10 > len(draws) {
		post.Notes = append(post.Notes, fmt.Sprintf("%d of %d trajectories have the maximum length, draws are correlated: set depth above %d", full, len(draws), m.Depth))
	}
	return post, nil
}
