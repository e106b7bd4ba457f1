package mfvi

import (
	"cmp"
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

// Model is mean-field variational inference. The zero value is the default: a
// 50-50 tanh network, prior precision and noise learned. Settings.Trainer,
// Settings.Steps and Settings.Rate are those of the start; Updates counts the steps
// of the bound.
type Model struct {
	mapnet.Settings

	Updates int     `set:"updates" default:"1000" help:"steps of adam on the variational bound"`
	Pace    float64 `set:"pace" default:"0.005" help:"learning rate of these, lowered to 0 along a cosine"`
	Draws   int     `set:"draws" default:"4" help:"networks drawn at each step, in pairs"`
	Samples int     `set:"samples" default:"100" help:"networks that the posterior consists of"`
	Begin   string  `set:"start" default:"map" help:"where the means start: map (a maximum of the posterior) or random (as published)"`
}

var _ surrogate.WarmStarter = Model{}

func (m Model) withDefaults() (Model, error) {
	var err error
	m.Settings, err = m.Settings.WithDefaults()
	if err = cmp.Or(err,
		settings.Choose("start", &m.Begin, "map", "random"),
		settings.Positive("updates", m.Updates), settings.Rate("pace", m.Pace),
		settings.Positive("draws", m.Draws), settings.Networks("samples", m.Samples),
	); err != nil {
		return m, fmt.Errorf("mfvi: %w", err)
	}
	m.Updates = cmp.Or(m.Updates, 1000)
	m.Pace = cmp.Or(m.Pace, 0.005)
	m.Draws = cmp.Or(m.Draws, 4)
	m.Samples = cmp.Or(m.Samples, 100)
	return m, nil
}

// Check reports settings that cannot be fitted, whatever the data: Fit would
// return the same error.
func (m Model) Check(int) error {
	_, err := m.withDefaults()
	return err
}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter: q, precision and noise start where an
// earlier fit ended.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.withDefaults()
	if err != nil {
		return nil, err
	}
	p, err := mapnet.New(m.Settings, d)
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

// bound is the variational bound of a problem; m has its defaults.
func (m Model) bound(p *mapnet.Problem) *mapnet.Stochastic {
	return &mapnet.Stochastic{
		Problem: p, Family: gaussians{p.Net.NumParams()}, Draws: m.Draws, FromMAP: m.Begin == "map",
		Schedule: train.Schedule{Phase: "bound", Steps: m.Updates, Every: 20, Rate: m.Pace},
	}
}
