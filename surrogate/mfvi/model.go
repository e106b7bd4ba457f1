package mfvi

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// Model is mean-field variational inference. The zero value is the default: a 50-50 tanh
// network with learned prior precision and noise variance. Training starts at a maximum of the
// posterior, computed with the defaults of package mapnn.
type Model struct {
	mapnet.Network

	Steps   int     `set:"steps" default:"1000" range:"[1,100000000]" help:"steps of adam on the variational bound"`
	Rate    float64 `set:"rate" default:"0.005" range:"(0,1]" help:"learning rate, lowered to 0 along a cosine"`
	Batch   int     `set:"batch" default:"500" range:"[1,1000000]" help:"observations in a step"`
	Draws   int     `set:"draws" default:"4" range:"[1,10000]" help:"networks drawn at each step, in pairs"`
	Samples int     `set:"samples" default:"100" range:"[2,100000]" help:"number of networks in the posterior"`
	Start   string  `set:"start" default:"map" oneof:"map,random" help:"initial means: map, a maximum of the posterior; random, as published"`
}

var _ surrogate.WarmStarter = Model{}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. q, the precision and the noise variance start at
// the result of an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve("mfvi", m)
	if err != nil {
		return nil, err
	}
	p, err := mapnet.New(mapnet.Settings{Network: m.Network, Batch: m.Batch}, d)
	if err != nil {
		return nil, err
	}
	b := m.bound(p)
	post, theta, err := b.Fit(ctx, start, rng)
	if err != nil {
		return nil, fmt.Errorf("mfvi: %w", err)
	}
	q := at(theta)
	post.Parameters = append(post.Parameters, surrogate.Hyper{Name: "networks", Value: float64(m.Samples)})
	post.Weights = mixture.Draw(q.m, q.s, nil, m.Samples, random.Split(rng, "samples", 0))
	return post, nil
}

// bound returns the training problem for p. All fields of m are set.
func (m Model) bound(p *mapnet.Problem) *mapnet.Stochastic {
	return &mapnet.Stochastic{
		Problem: p, Family: gaussians{p.Net.NumParams()}, Draws: m.Draws, FromMAP: m.Start == "map",
		Schedule: train.Schedule{Phase: "bound", Steps: m.Steps, Every: 20, Rate: m.Rate},
	}
}
