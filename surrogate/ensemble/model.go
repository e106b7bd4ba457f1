package ensemble

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/functionspace/bo/internal/random"
	"github.com/functionspace/bo/internal/settings"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/internal/mapnet"
	"github.com/functionspace/bo/surrogate/internal/mixture"
	"github.com/functionspace/bo/surrogate/internal/train"
)

// Model is a deep ensemble. The zero value is the default: ten 50-50 tanh networks, each
// trained on all data. Fields of the embedded struct are assigned, as in m.Hidden = []int{20}: Hidden,
// Activation, Architecture, Precision, Noise, Trainer, Steps, Batch and Rate.
type Model struct {
	mapnet.Settings

	Members int     `set:"members" default:"10" range:"[2,1000]" help:"number of networks"`
	Subset  float64 `set:"subset" default:"1" range:"(0,1]" help:"share of the observations on which each network trains (published: 0.8)"`
}

var _ surrogate.WarmStarter = Model{}

// Fit implements surrogate.Model.
func (m Model) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.FitFrom(ctx, nil, d, rng)
}

// FitFrom implements surrogate.WarmStarter. Each member starts at the result of the same
// member of an earlier fit.
func (m Model) FitFrom(ctx context.Context, start surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m, err := settings.Resolve("ensemble", m)
	if err != nil {
		return nil, err
	}
	all, err := mapnet.New(m.Settings, d)
	if err != nil {
		return nil, err
	}
	if all.Constant() {
		post, err := all.Vanishing(ctx, m.Members, nil, rng)
		if err != nil {
			return nil, fmt.Errorf("ensemble: %w", err)
		}
		return post, nil
	}
	size := 2 + all.Net.NumParams() // length of a member's state
	if len(start) != m.Members*size {
		start = nil
	}
	post := &mixture.Posterior{Net: all.Net, Inputs: all.Inputs, Shift: all.Shift}
	warned := map[string]bool{}
	var precision float64
	n := len(d.Y)
	for k := range m.Members {
		rng := random.Split(rng, "member", k)
		p := all
		if rows := int(math.Ceil(m.Subset * float64(n))); rows < n {
			p = all.Subset(rng.Perm(n)[:rows])
		}
		var state []float64
		if start != nil {
			state = start[k*size : (k+1)*size]
		}
		w, h := p.StartStrong(state, rng)
		f, err := p.FitStrong(train.WithPhase(ctx, fmt.Sprintf("network %d of %d", k+1, m.Members)), p.Cheap(), w, h, rng)
		if err != nil {
			return nil, fmt.Errorf("ensemble: %w", err)
		}
		post.Weights = append(post.Weights, f.W)
		post.NoiseVariance += f.Hypers.Noise / float64(m.Members)
		precision += f.Hypers.Precision / float64(m.Members)
		post.Learned = append(post.Learned, f.State()...)
		for _, text := range f.Warnings {
			if !warned[text] {
				warned[text] = true
				post.Notes = append(post.Notes, text)
			}
		}
	}
	post.Notes = append(post.Notes, all.FewForSpread()...)
	post.Parameters = []surrogate.Hyper{{Name: "mean precision", Value: precision}, {Name: "noise", Value: post.NoiseVariance}, {Name: "members", Value: float64(m.Members)}}
	return post, nil
}
