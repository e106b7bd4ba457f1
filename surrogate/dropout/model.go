package dropout

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// Model is Monte-Carlo dropout. The zero value is the default: a 50-50 tanh network with a
// dropout probability of 5 %. Training starts at a maximum of the posterior, computed with
// the defaults of package mapnn.
type Model struct {
	mapnet.Network

	Drop    float64 `set:"drop" default:"0.05" range:"(0,1)" help:"probability that a hidden unit is set to 0"`
	Steps   int     `set:"steps" default:"1000" range:"[1,100000000]" help:"steps of adam with dropout"`
	Rate    float64 `set:"rate" default:"0.005" range:"(0,1]" help:"learning rate, lowered to 0 along a cosine"`
	Batch   int     `set:"batch" default:"500" range:"[1,1000000]" help:"observations in a step"`
	Draws   int     `set:"draws" default:"4" range:"[1,10000]" help:"masks drawn at each step"`
	Samples int     `set:"samples" default:"100" range:"[2,100000]" help:"number of networks in the posterior"`
	Start   string  `set:"start" default:"map" oneof:"map,random" help:"initial weights: map, a maximum of the posterior; random, as published"`
}

var _ surrogate.WarmStarter = Model{}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. Weights, precision and noise variance start at
// the result of an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve("dropout", m)
	if err != nil {
		return nil, err
	}
	p, err := mapnet.New(mapnet.Settings{Network: m.Network, Batch: m.Batch}, d)
	if err != nil {
		return nil, err
	}
	o := m.objective(p)
	post, w, err := o.Fit(ctx, start, rng)
	if err != nil {
		return nil, fmt.Errorf("dropout: %w", err)
	}
	post.Parameters = append(post.Parameters, surrogate.Hyper{Name: "networks", Value: float64(m.Samples)})
	for _, z := range o.Family.Noise(m.Samples, random.Split(rng, "samples", 0)) {
		law(w).Weights(z, z)
		post.Weights = append(post.Weights, z)
	}
	return post, nil
}

// objective returns the training problem for p. All fields of m are set.
func (m Model) objective(p *mapnet.Problem) *mapnet.Stochastic {
	return &mapnet.Stochastic{
		Problem: p, Family: masked{p.Net, m.Drop}, Draws: m.Draws, Fixed: true, FromMAP: m.Start == "map",
		Schedule: train.Schedule{Phase: "dropout", Steps: m.Steps, Every: 20, Rate: m.Rate},
	}
}
