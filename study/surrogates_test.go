package study_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/catalog"
	"github.com/functionspace/bo/loop"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/study"
)

// cheap are settings that make fits short, for the surrogates that have them.
var cheap = map[string]any{"steps": 20, "members": 2, "samples": 4, "features": 16, "hidden": []any{8}, "inducing": 8, "context": 16, "restarts": 1, "burn": 10, "chains": 2, "draws": 10, "depth": 1, "functions": 16}

// cheapest returns the settings of a surrogate that make its fits short.
func cheapest(t *testing.T, name string) map[string]any {
	set := map[string]any{}
	for key, v := range cheap {
		d := study.Definition{Version: 1, Parameters: []space.Parameter{space.Float("x", 0, 1)}, Surrogate: study.Component{Name: name, Settings: map[string]any{key: v}}}
		if err := d.Validate(); err == nil {
			set[key] = v
		} else if !errors.Is(err, catalog.ErrUnknown) {
			t.Logf("%s: %v", name, err)
		}
	}
	return set
}

// Every surrogate suggests points of a space with conditions, constraints and parameters of all kinds, also
// after the study is saved and resumed. The study has failed, stopped and pending trials, batches and a
// requirement.
func TestEverySurrogateInARestrictedSpace(t *testing.T) {
	many := make([]any, 70)
	for i := range many {
		many[i] = fmt.Sprint("v", i)
	}
	when := func(p space.Parameter, text string) space.Parameter {
		p.When.Text = text
		return p
	}
	for i, e := range catalog.Surrogates() {
		if testing.Short() && i > 1 {
			break
		}
		t.Run(e.Name, func(t *testing.T) {
			d := &study.Definition{
				Version: 1, Budget: 30, Initial: 6, Seed: 5, Batch: 3,
				Parameters: []space.Parameter{
					space.Categorical("kind", "a", "b", "c"), when(space.LogFloat("rate", 1e-5, 1), "kind != 'a'"), when(space.Bool("nesterov"), "rate < 0.1"),
					space.StepFloat("s", 0, 1, 0.25), space.Int("n", 1, 64), space.Ordinal("o", 1.0, 10.0, 100.0), space.Categorical("many", many...),
				},
				Constraints: []string{"n * (1 + s) <= 40", "rate >= 0.001 or n < 20"},
				Require:     []string{"latency <= 1.5"},
				Stop:        loop.Stop{Rule: loop.ASHA, Eta: 2},
				Surrogate:   study.Component{Name: e.Name, Settings: cheapest(t, e.Name)},
				Maximizer:   map[string]any{"raw": 32, "starts": 2, "iterations": 5},
			}
			sp, o, s := begin(t, d)
			for round := range 4 {
				trials, err := s.Ask(t.Context(), 3)
				require.NoError(t, err)
				for _, trial := range trials {
					finish(t, s, sp, trial)
				}
				if round == 2 {
					var file bytes.Buffer
					require.NoError(t, s.Save(&file))
					s, err = loop.ResumeIn(&file, sp, o)
					require.NoError(t, err)
				}
			}
			suggested := 0
			for _, trial := range s.Trials() {
				if trial.Source == loop.Suggested {
					suggested++
				}
			}
			require.Positive(t, suggested)
		})
	}
}

// begin returns the study of a definition without trials, its space and its options.
func begin(t *testing.T, d *study.Definition) (*space.Space, loop.Options, *loop.Study) {
	require.NoError(t, d.Validate())
	sp, err := d.Space()
	require.NoError(t, err)
	o, err := d.Method()
	require.NoError(t, err)
	s, err := loop.New(sp, o)
	require.NoError(t, err)
	return sp, o, s
}

// finish checks the point of a trial, and records a result by its ID.
func finish(t *testing.T, s *loop.Study, sp *space.Space, trial loop.Trial) {
	_, err := sp.PointOf(trial.Point.Map())
	require.NoError(t, err)
	require.LessOrEqual(t, trial.Point.Float("n")*(1+trial.Point.Float("s")), 40.0)
	require.Equal(t, trial.Point.Value("kind") != "a", trial.Point.Active("rate"))
	value := trial.Point.Float("n")/64 + trial.Point.Float("s")
	switch trial.ID % 7 {
	case 2:
		require.NoError(t, s.Fail(trial.ID, "no result"))
	case 3: // the rule may stop it
		stop, err := s.Report(trial.ID, 1, value)
		require.NoError(t, err)
		if stop {
			return
		}
		fallthrough
	default:
		require.NoError(t, s.TellOutcome(trial.ID, loop.Outcome{Value: value, Numbers: map[string]float64{"latency": 2 * trial.Point.Float("s")}}))
	case 5: // it stays pending
	}
}

// Every surrogate takes beliefs about the optimum, a prior mean and first points. If its kernel is a function
// of the inputs, it takes a kernel of named inputs. The study has one objective and an estimate of the regret,
// or several objectives and a requirement. Suggestions come before and after it is saved and resumed.
func TestEverySurrogateWithBeliefsAndSeveralObjectives(t *testing.T) {
	for i, e := range catalog.Surrogates() {
		if testing.Short() && i > 1 {
			break
		}
		for _, several := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/several=%v", e.Name, several), func(t *testing.T) {
				searchWithBeliefs(t, study.Component{Name: e.Name, Settings: cheapest(t, e.Name)}, several)
			})
		}
	}
}

// searchWithBeliefs makes six trials of a study, the last after it is resumed.
func searchWithBeliefs(t *testing.T, surrogate study.Component, several bool) {
	d := &study.Definition{
		Version: 1, Budget: 30, Initial: 4, Seed: 3, Surrogate: surrogate,
		Parameters: []space.Parameter{space.Float("x", 0, 1), space.Int("n", 1, 9)},
		Optimum:    map[string]loop.Belief{"x": {Around: 0.3, Within: 0.1}},
		First:      []map[string]any{{"x": 0.25}},
		Maximizer:  map[string]any{"raw": 32, "starts": 2, "iterations": 5},
	}
	if several {
		d.Objectives, d.Require = []study.Objective{{Name: "loss"}, {Name: "gain", Goal: study.Maximize}}, []string{"loss <= 9"}
	} else {
		d.PriorMean = "n / 4"
		d.Surrogate.Settings = maps.Clone(surrogate.Settings)
		d.Surrogate.Settings["kernel"] = "matern52[x] + linear[n]"
		if d.Validate() != nil { // a network, or dkl, whose kernel is a function of learned features
			d.Surrogate = surrogate
		}
	}
	_, o, s := begin(t, d)
	for id := 1; id <= 6; id++ {
		trials, err := s.Ask(t.Context(), 1)
		require.NoError(t, err)
		x, n := trials[0].Point.Float("x"), trials[0].Point.Float("n")
		if id == 1 {
			require.Equal(t, 0.25, x)
			require.Equal(t, loop.First, trials[0].Source)
		}
		if id == 3 {
			require.NoError(t, s.Fail(id, "no result"))
			continue
		}
		require.NoError(t, s.TellOutcome(id, loop.Outcome{Value: x + n/4, Numbers: map[string]float64{"loss": x + n, "gain": x * n}}))
		if id == 5 {
			var file bytes.Buffer
			require.NoError(t, s.Save(&file))
			s, err = loop.Resume(&file, o)
			require.NoError(t, err)
		}
	}
	require.Equal(t, loop.Suggested, s.Trials()[5].Source)
	if several {
		front, err := s.RecommendFront(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, front.Observed.Front)
		return
	}
	_, err := s.Recommend(t.Context())
	require.NoError(t, err)
	regret, err := s.EstimateRegret(t.Context(), 0.9)
	require.NoError(t, err)
	require.GreaterOrEqual(t, regret.Bound, 0.0)
}
