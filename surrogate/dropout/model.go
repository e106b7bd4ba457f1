package dropout

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// Model is Monte-Carlo dropout. The zero value is the default: a 50-50 tanh network
// of which 5 % of the hidden units are left out. Settings.Trainer, Settings.Steps
// and Settings.Rate are those of the start; Updates counts the steps with dropout.
type Model struct {
	mapnet.Settings

	Drop    float64 `set:"drop" default:"0.05" help:"probability that a hidden unit is left out"`
	Updates int     `set:"updates" default:"1000" help:"steps of adam with dropout"`
	Pace    float64 `set:"pace" default:"0.005" help:"learning rate of these, lowered to 0 along a cosine"`
	Draws   int     `set:"draws" default:"4" help:"masks drawn at each step"`
	Samples int     `set:"samples" default:"100" help:"networks that the posterior consists of"`
	Begin   string  `set:"start" default:"map" help:"where the weights start: map (a maximum of the posterior) or random (as published)"`
}

var _ surrogate.WarmStarter = Model{}

func (m Model) withDefaults() (Model, error) {
	var err error
	m.Settings, err = m.Settings.WithDefaults()
	if err = cmp.Or(err,
		settings.Choose("start", &m.Begin, "map", "random"), settings.Positive("drop", m.Drop),
		settings.Positive("updates", m.Updates), settings.Rate("pace", m.Pace),
		settings.Positive("draws", m.Draws), settings.Networks("samples", m.Samples),
	); err != nil {
		return m, fmt.Errorf("dropout: %w", err)
	}
	if m.Drop >= 1 {
		return m, fmt.Errorf("dropout: drop is %v, want a probability below 1", m.Drop)
	}
	m.Drop = cmp.Or(m.Drop, 0.05)
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

// FitFrom implements surrogate.WarmStarter: weights, precision and noise start
// where an earlier fit ended.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := m.withDefaults()
	if err != nil {
		return nil, err
	}
	p, err := mapnet.New(m.Settings, d)
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

// objective is that of a problem; m has its defaults.
func (m Model) objective(p *mapnet.Problem) *mapnet.Stochastic {
	return &mapnet.Stochastic{
		Problem: p, Family: masked{p.Net, m.Drop}, Draws: m.Draws, Fixed: true, FromMAP: m.Begin == "map",
		Schedule: train.Schedule{Phase: "dropout", Steps: m.Updates, Every: 20, Rate: m.Pace},
	}
}
