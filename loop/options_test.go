package loop

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/prior"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// New finds invalid settings of the surrogate model and of the acquisition function, nil pointers, and
// spaces without parameters.
func TestInvalidOptions(t *testing.T) {
	kernel := func(text string) Options { return Options{Surrogate: gp.Model{Spec: prior.Spec{Kernel: text}}} }
	for want, o := range map[string]Options{
		`did you mean matern52?`:              kernel("matern5"),
		`"z"`:                                 kernel("rbf(z)"),
		"surrogate: invalid prior: 3 lengths": {Surrogate: &gp.Model{Spec: prior.Spec{Lengthscale: []float64{1, 2, 3}}}},
		"surrogate: noise is -1, want":        {Surrogate: surrogate.Scaled{Model: gp.Model{Spec: prior.Spec{Noise: new(-1.)}}}},
		"the model is a nil *gp.Model, want":  {Surrogate: (*gp.Model)(nil)},
		"model is a nil *gp.Model":            {Surrogate: surrogate.Scaled{Model: (*gp.Model)(nil)}},
		"acquisition: beta is -1, want more":  {Acquisition: acquisition.LCB{Beta: -1}},
		"acquisition: beta is NaN, want more": {Acquisition: &acquisition.LCB{Beta: math.NaN()}},
		"acquisition: samples is -5, want":    {Acquisition: acquisition.LogNEI{Samples: -5}},
		"samples is -1, want 1 to 10000":      {Acquisition: acquisition.MES{Samples: -1}},
		"samples is -5, want 1 to 65536":      {Acquisition: acquisition.Auto{LogNEI: acquisition.LogNEI{Samples: -5}}},
		"nil *acquisition.LogNEI":             {Acquisition: (*acquisition.LogNEI)(nil)},
	} {
		_, err := New(box(t), o)
		require.ErrorIs(t, err, ErrOptions, want)
		require.ErrorContains(t, err, want)
		_, err = Propose(t.Context(), box(t), o, History{}, 1)
		require.ErrorIs(t, err, ErrOptions, want)
	}
	for _, s := range []*space.Space{nil, {}} {
		_, err := New(s, Options{})
		require.EqualError(t, err, "loop: invalid options: no space: space.New makes one from parameters")
		require.ErrorIs(t, err, ErrOptions)
	}
}

// empty is an acquisition function that is never built.
type empty struct{}

func (empty) Build(context.Context, acquisition.Problem, int, *rand.Rand) (acquisition.Function, error) {
	return nil, nil
}

func TestAcquisitionWithoutFunction(t *testing.T) {
	o := options(1)
	o.Acquisition = empty{}
	_, err := newStudy(t, box(t), o).Run(t.Context(), branin, 6, 1)
	require.ErrorIs(t, err, acquisition.ErrProblem)
	require.ErrorContains(t, err, "Build of loop.empty returned neither a function nor an error")
}

// A study shares no slice or map with its options, nor with the result of Options.
func TestStudyCopiesOptions(t *testing.T) {
	reference := 9.
	stated := func() Options {
		return Options{
			Require:    []Requirement{{Name: "a", Bound: 1}},
			Objectives: []Goal{{Name: "b", Reference: &reference}, {Name: "c"}},
			Optimum:    map[string]Belief{"opt": {Values: map[string]float64{"adam": 0.9}}},
			First:      []map[string]any{{"layers": 2}},
		}
	}
	change := func(o Options) {
		o.Require[0].Bound = 0
		*o.Objectives[0].Reference = 3
		o.Objectives[1].Maximize = true
		o.Optimum["opt"].Values["adam"] = 0.1
		o.Optimum["lr"] = Belief{Around: 1}
		o.First[0]["layers"] = 77
	}
	given := stated()
	s := newStudy(t, mixed(t), given)
	change(given)
	change(s.Options())
	reference = 9
	got, want := s.Options(), stated()
	require.Equal(t, want.Require, got.Require)
	require.Equal(t, want.Objectives, got.Objectives)
	require.Equal(t, want.Optimum, got.Optimum)
	require.Equal(t, want.First, got.First)
}
