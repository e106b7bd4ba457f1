package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"

	"github.com/functionspace/bo/acquisition"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// quick shortens the search for the maximum of the acquisition function.
var quick = acquisition.MaximizeOptions{Raw: 64, Starts: 3, Iterations: 20}

// options has predictions at the best hyperparameters alone, which saves time.
func options(seed uint64) Options {
	return Options{Seed: seed, Initial: 4, Maximizer: quick, Surrogate: gp.Model{Averaged: 1}}
}

func newSpace(t testing.TB, params ...space.Parameter) *space.Space {
	t.Helper()
	s, err := space.New(params...)
	require.NoError(t, err)
	return s
}

func newStudy(t testing.TB, s *space.Space, o Options) *Study {
	t.Helper()
	study, err := New(s, o)
	require.NoError(t, err)
	return study
}

func box(t testing.TB) *space.Space {
	return newSpace(t, space.Float("x", -5, 10), space.Float("y", 0, 15))
}

func mixed(t testing.TB) *space.Space {
	return newSpace(t, space.LogFloat("lr", 1e-5, 1e-1), space.Int("layers", 1, 6), space.Categorical("opt", "adam", "sgd", "rms"),
		space.Ordinal("bits", 2, 4, 8), space.Categorical("skip", true, false), space.LogInt("width", 4, 256), space.Fixed("tag", "a"))
}

// bowl is a smooth objective on any space: the squared distance in the unit cube from a
// point off the centre.
func bowl(_ context.Context, p space.Point) (float64, error) {
	var sum float64
	for i, u := range p.Space().Encode(p) {
		d := u - 0.3 - 0.05*float64(i)
		sum += d * d
	}
	return sum, nil
}

func branin(_ context.Context, p space.Point) (float64, error) {
	x, y := p.Float("x"), p.Float("y")
	a := y - 5.1/(4*math.Pi*math.Pi)*x*x + 5/math.Pi*x - 6
	return a*a + 10*(1-1/(8*math.Pi))*math.Cos(x) + 10, nil
}

// outcome holds the fields of a trial that do not depend on timing.
type outcome struct {
	Key, Source, State, Error string
	Value                     float64
	Prediction                Prediction
}

func outcomes(trials []Trial) []outcome {
	out := make([]outcome, len(trials))
	for i, t := range trials {
		out[i] = outcome{Key: t.Point.Key(), Source: string(t.Source), State: string(t.State), Error: t.Error, Value: t.Value}
		if t.Prediction != nil {
			out[i].Prediction = *t.Prediction
		}
	}
	return out
}

func run(t testing.TB, s *Study, f Objective, budget, workers int) Result {
	t.Helper()
	r, err := s.Run(t.Context(), f, budget, workers)
	require.NoError(t, err)
	return r
}

func TestSameSeedSameTrials(t *testing.T) {
	for name, sp := range map[string]*space.Space{"box": box(t), "mixed": mixed(t)} {
		t.Run(name, func(t *testing.T) {
			o := options(3)
			o.Batch = 3
			want := outcomes(run(t, newStudy(t, sp, o), bowl, 12, 1).Trials)
			assert.Len(t, want, 12)
			assert.Equal(t, want, outcomes(run(t, newStudy(t, sp, o), bowl, 12, 1).Trials), "again")

			jitter := func(ctx context.Context, p space.Point) (float64, error) {
				time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
				return bowl(ctx, p)
			}
			assert.Equal(t, want, outcomes(run(t, newStudy(t, sp, o), jitter, 12, 4).Trials), "4 workers")

			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			assert.Equal(t, want, outcomes(run(t, newStudy(t, sp, o), bowl, 12, 2).Trials), "GOMAXPROCS 1")

			o.Seed = 4
			assert.NotEqual(t, want, outcomes(run(t, newStudy(t, sp, o), bowl, 12, 1).Trials), "another seed")
		})
	}
}

func TestAffineChangeOfValues(t *testing.T) {
	want := run(t, newStudy(t, box(t), options(1)), branin, 10, 1).Trials
	scaled := func(scale, shift float64) Objective {
		return func(ctx context.Context, p space.Point) (float64, error) {
			v, err := branin(ctx, p)
			return scale*v + shift, err
		}
	}
	for _, scale := range []float64{0x1p-20, 4, 0x1p40} {
		got := run(t, newStudy(t, box(t), options(1)), scaled(scale, 0), 10, 1).Trials
		for i := range want {
			assert.Equal(t, want[i].Point.Key(), got[i].Point.Key(), "scale %g, trial %d", scale, i+1)
		}
	}
	got := run(t, newStudy(t, box(t), options(1)), scaled(3, 7), 6, 1).Trials
	for i := range got {
		assert.InDelta(t, want[i].Point.Float("x"), got[i].Point.Float("x"), 1e-3, "trial %d", i+1)
	}
}

func TestMaximizeIsMinimizeWithTheSignFlipped(t *testing.T) {
	low := run(t, newStudy(t, box(t), options(2)), branin, 9, 1)
	o := options(2)
	o.Maximize = true
	high := run(t, newStudy(t, box(t), o), func(ctx context.Context, p space.Point) (float64, error) {
		v, err := branin(ctx, p)
		return -v, err
	}, 9, 1)
	for i := range low.Trials {
		require.Equal(t, low.Trials[i].Point.Key(), high.Trials[i].Point.Key())
		if p, q := low.Trials[i].Prediction, high.Trials[i].Prediction; p != nil {
			assert.Equal(t, Prediction{Mean: -p.Mean, SD: p.SD, Acquisition: p.Acquisition}, *q)
		}
	}
	assert.Equal(t, low.Best.Value, -high.Best.Value)
	assert.Equal(t, low.Recommendation.Model.Mean, -high.Recommendation.Model.Mean)
	assert.Equal(t, len(low.Incumbents), len(high.Incumbents))
}

func TestFindsTheMinimum(t *testing.T) {
	r, err := Minimize(t.Context(), branin, box(t), Options{Seed: 1, Budget: 30, NoiseFree: true})
	require.NoError(t, err)
	assert.Less(t, r.Best.Value, 0.397887+0.05)
	assert.Equal(t, r.Best, r.Recommendation.Model.Trial)
	assert.Equal(t, r.Best, r.Incumbents[len(r.Incumbents)-1])
}

func TestInitialDesign(t *testing.T) {
	s := newStudy(t, mixed(t), Options{})
	assert.Equal(t, 14, s.Options().Initial)
	assert.Equal(t, 6, newStudy(t, box(t), Options{}).Options().Initial)
	assert.Equal(t, 2, newStudy(t, newSpace(t, space.Categorical("a", "b", "c")), Options{}).Options().Initial)

	for _, design := range []InitialDesign{Sobol, Halton, LatinHypercube, Uniform} {
		o := options(1)
		o.Design = design
		trials, err := newStudy(t, mixed(t), o).Ask(t.Context(), 11)
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, tr := range trials {
			assert.Equal(t, Design, tr.Source)
			seen[tr.Point.Key()] = true
		}
		assert.Len(t, seen, 11, design)
	}
	_, err := New(box(t), Options{Design: "grid", Batch: -1})
	assert.ErrorIs(t, err, ErrOptions)
	assert.ErrorContains(t, err, `design is "grid", want sobol, halton, lhs or uniform`)
	assert.ErrorContains(t, err, "batch is -1, want 1 to 1000")
	_, err = New(nil, Options{})
	assert.ErrorIs(t, err, ErrOptions)
}

func TestDefaults(t *testing.T) {
	o, err := Options{}.withDefaults(box(t))
	require.NoError(t, err)
	o.Surrogate, o.Acquisition = nil, nil
	stop := Stop{Rule: NeverStop, MinSteps: 1, Eta: 4, Startup: 5}
	maximizer := acquisition.MaximizeOptions{Raw: 1024, Starts: 20, Iterations: 200}
	assert.Equal(t, Options{Initial: 6, Design: Sobol, Warp: WarpAuto, Local: LocalAuto, Budget: DefaultBudget, Workers: 1, Stop: stop, Maximizer: maximizer}, o)
}

// One Ask of six trials and six Asks of one give the same design.
func TestDesignDoesNotDependOnTheSizeOfAsks(t *testing.T) {
	whole, err := newStudy(t, box(t), options(1)).Ask(t.Context(), 6)
	require.NoError(t, err)
	s := newStudy(t, box(t), options(1))
	for i := range whole {
		one, err := s.Ask(t.Context(), 1)
		require.NoError(t, err)
		assert.Equal(t, whole[i].Point.Key(), one[0].Point.Key())
	}
}

func TestBudgetBelowInitialDesign(t *testing.T) {
	r := run(t, newStudy(t, box(t), Options{}), branin, 2, 1)
	assert.Len(t, r.Trials, 2)
	assert.Equal(t, Complete, r.Best.State)
	r = run(t, newStudy(t, box(t), Options{}), branin, 1, 4)
	assert.Len(t, r.Trials, 1)
	_, err := newStudy(t, box(t), Options{}).Run(t.Context(), branin, 0, 1)
	assert.ErrorIs(t, err, ErrOptions)
}

func TestSpacesOfOneParameter(t *testing.T) {
	for _, p := range []space.Parameter{space.Float("x", 0, 1), space.LogFloat("x", 1e-9, 1e9), space.Int("x", -3, 300), space.Ordinal("x", 1, 2, 4, 8, 16, 32, 64, 128, 256)} {
		t.Run(string(p.Kind), func(t *testing.T) {
			r := run(t, newStudy(t, newSpace(t, p), options(1)), bowl, 9, 1)
			assert.Len(t, r.Trials, 9)
			assert.Equal(t, Suggested, r.Trials[8].Source)
			assert.Empty(t, r.Warnings)
		})
	}
}

func TestFiniteSpace(t *testing.T) {
	sp := newSpace(t, space.Int("n", 1, 4), space.Categorical("c", "a", "b", "c"), space.Fixed("k", 3))
	o := options(1)
	o.Batch = 5
	t.Run("noise-free", func(t *testing.T) {
		o := o
		o.NoiseFree = true
		s := newStudy(t, sp, o)
		r := run(t, s, bowl, 30, 2)
		seen := map[string]bool{}
		for _, tr := range r.Trials {
			seen[tr.Point.Key()] = true
		}
		assert.Len(t, r.Trials, 12)
		assert.Len(t, seen, 12)
		assert.Contains(t, r.Warnings, "the run ends early: every point of the space has been tried")
		_, err := s.Ask(t.Context(), 1)
		assert.ErrorIs(t, err, ErrExhausted)
	})
	t.Run("noisy", func(t *testing.T) {
		r := run(t, newStudy(t, sp, o), bowl, 16, 1)
		seen := map[string]bool{}
		for _, tr := range r.Trials[:12] {
			seen[tr.Point.Key()] = true
		}
		assert.Len(t, r.Trials, 16)
		assert.Len(t, seen, 12)
	})
	t.Run("failing", func(t *testing.T) {
		o := o
		o.NoiseFree = true
		r, err := newStudy(t, sp, o).Run(t.Context(), func(context.Context, space.Point) (float64, error) { return 0, errors.New("no") }, 30, 1)
		assert.ErrorIs(t, err, ErrNoValue)
		assert.Len(t, r.Trials, 12)
	})
	t.Run("fewer than asked", func(t *testing.T) {
		o := o
		o.NoiseFree = true
		trials, err := newStudy(t, sp, o).Ask(t.Context(), 40)
		require.NoError(t, err)
		assert.Len(t, trials, 12)
	})
	t.Run("repeats by design", func(t *testing.T) {
		trials, err := newStudy(t, sp, o).Ask(t.Context(), 40)
		require.NoError(t, err)
		assert.Len(t, trials, 40)
	})
}

func TestPointAtRunsThroughTheSpace(t *testing.T) {
	sp := newSpace(t, space.Int("n", -1, 2), space.Categorical("c", "a", "b", "c"), space.Fixed("k", 3), space.Ordinal("o", 1, 2))
	seen := map[string]bool{}
	for i := range 24 {
		seen[sp.At(i).Key()] = true
	}
	assert.Len(t, seen, 24)
}

func TestObjectivesThatFail(t *testing.T) {
	failing := func(fails func(call int64) bool) (Objective, *atomic.Int64) {
		var calls atomic.Int64
		return func(ctx context.Context, p space.Point) (float64, error) {
			if fails(calls.Add(1)) {
				return 0, errors.New("diverged")
			}
			return branin(ctx, p)
		}, &calls
	}
	t.Run("some", func(t *testing.T) {
		f, _ := failing(func(c int64) bool { return c%3 == 0 })
		r := run(t, newStudy(t, box(t), options(1)), f, 12, 1)
		assert.Len(t, r.Trials, 12)
		assert.Equal(t, Failed, r.Trials[2].State)
		assert.Equal(t, "diverged", r.Trials[2].Error)
		assert.Equal(t, Suggested, r.Trials[11].Source)
	})
	t.Run("first", func(t *testing.T) {
		f, _ := failing(func(c int64) bool { return c <= 6 })
		r := run(t, newStudy(t, box(t), options(1)), f, 10, 1)
		assert.Equal(t, Design, r.Trials[5].Source)
		assert.Equal(t, Suggested, r.Trials[8].Source)
		assert.Equal(t, Complete, r.Best.State)
	})
	t.Run("all", func(t *testing.T) {
		f, calls := failing(func(int64) bool { return true })
		r, err := newStudy(t, box(t), options(1)).Run(t.Context(), f, 10, 1)
		require.ErrorIs(t, err, ErrNoValue)
		assert.ErrorContains(t, err, "diverged")
		assert.EqualValues(t, 10, calls.Load())
		assert.Len(t, r.Trials, 10)
		seen := map[string]bool{}
		for _, tr := range r.Trials {
			assert.Equal(t, Design, tr.Source)
			seen[tr.Point.Key()] = true
		}
		assert.Len(t, seen, 10)
	})
	t.Run("panic, NaN, infinity, Goexit", func(t *testing.T) {
		var call int
		r := run(t, newStudy(t, box(t), options(1)), func(ctx context.Context, p space.Point) (float64, error) {
			call++
			switch call {
			case 1:
				panic("boom")
			case 2:
				return math.NaN(), nil
			case 3:
				return math.Inf(-1), nil
			case 4:
				runtime.Goexit()
			case 5:
				return math.MaxFloat64, nil
			}
			return branin(ctx, p)
		}, 8, 1)
		want := []string{"boom", "NaN", "-Inf", "ended its goroutine", "e+308"}
		for i, part := range want {
			assert.Equal(t, Failed, r.Trials[i].State)
			assert.Contains(t, r.Trials[i].Error, part)
		}
		assert.Equal(t, "panic: boom", r.Trials[0].Error)
		assert.Regexp(t, `^[^\n]*loop\.Test[^\n]*\n\t[^\n]*loop_test\.go:\d+\n`, r.Trials[0].Stack)
		assert.Empty(t, r.Trials[1].Stack)
		assert.Equal(t, Complete, r.Trials[7].State)
	})
}

// recorder records the datasets of its fits.
type recorder struct {
	surrogate.Model
	data *[]surrogate.Dataset
}

func (r recorder) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	*r.data = append(*r.data, d)
	return r.Model.Fit(ctx, d, rng)
}

// An acquisition function that takes no probability of a failure.
func TestFailedTrialsGetTheWorstValue(t *testing.T) {
	var data []surrogate.Dataset
	o := options(1)
	o.Acquisition = acquisition.LCB{}
	o.Surrogate = recorder{gp.Model{}, &data}
	o.Maximize = true
	s := newStudy(t, box(t), o)
	trials, err := s.Ask(t.Context(), 4)
	require.NoError(t, err)
	require.NoError(t, s.Tell(4, 3))
	require.NoError(t, s.Tell(1, 1))
	require.NoError(t, s.Fail(2, "no"))
	require.NoError(t, s.Tell(3, 2))
	_, err = s.Ask(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, data, 1)
	assert.Equal(t, []float64{1, 1, 0, -1}, data[0].Y)
	for i, tr := range trials {
		assert.Equal(t, s.Space().Encode(tr.Point), data[0].X.RawRowView(i))
	}
	assert.Equal(t, []float64{0, 0}, data[0].Lo)
	assert.Equal(t, []float64{1, 1}, data[0].Hi)
	assert.False(t, data[0].NoiseFree)
}

// Fits leave lost trials out, and a saved study keeps them.
func TestLostTrials(t *testing.T) {
	var data []surrogate.Dataset
	o := options(1)
	o.Surrogate = recorder{gp.Model{}, &data}
	s := newStudy(t, box(t), o)
	_, err := s.Ask(t.Context(), 4)
	require.NoError(t, err)
	for _, id := range []int{1, 3, 4} {
		require.NoError(t, s.Tell(id, float64(id)))
	}
	require.NoError(t, s.Lose(2, "the machine is gone"))
	require.ErrorIs(t, s.Lose(2, "again"), ErrFinished)
	require.ErrorIs(t, s.Lose(9, ""), ErrUnknownTrial)
	require.ErrorIs(t, s.Tell(2, 1), ErrFinished)
	_, err = s.Report(2, 1, 1)
	require.ErrorIs(t, err, ErrFinished)
	var saved bytes.Buffer
	require.NoError(t, s.Save(&saved))
	next, err := s.Ask(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, data, 1)
	require.Len(t, data[0].Y, 3)
	require.Empty(t, next[0].Pending)
	again, err := Resume(&saved, o)
	require.NoError(t, err)
	require.Equal(t, Lost, again.Trials()[1].State)
	same, err := again.Ask(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, next[0].Point.Map(), same[0].Point.Map())
}

// brittle is a model whose fit returns err.
type brittle struct{ err error }

func (b brittle) Fit(context.Context, surrogate.Dataset, *rand.Rand) (surrogate.Posterior, error) {
	return nil, b.err
}

func TestSurrogateThatFails(t *testing.T) {
	o := options(1)
	o.Surrogate = brittle{fmt.Errorf("gp: %w", surrogate.ErrNotPositiveDefinite)}
	r := run(t, newStudy(t, box(t), o), branin, 8, 1)
	assert.Equal(t, Design, r.Trials[7].Source)
	assert.Contains(t, fmt.Sprint(r.Trials[7].Warnings), "not positive definite")
	assert.Contains(t, fmt.Sprint(r.Warnings), "the best observed trial is recommended")

	bad := errors.New("unknown kernel")
	o.Surrogate = brittle{bad}
	r, err := newStudy(t, box(t), o).Run(t.Context(), branin, 8, 1)
	assert.ErrorIs(t, err, bad)
	assert.Equal(t, Complete, r.Best.State)
	assert.Len(t, r.Trials, 4)
}

// lost is a posterior, and its model, with NaN as the last mean.
type lost struct{ surrogate.Posterior }

func (l lost) Predict(mean, variance []float64, x *mat.Dense) {
	l.Posterior.Predict(mean, variance, x)
	mean[len(mean)-1] = math.NaN()
}

func (lost) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	p, err := gp.Model{}.Fit(ctx, d, rng)
	return lost{p}, err
}

func TestSurrogateWithoutMean(t *testing.T) {
	for _, noiseFree := range []bool{false, true} {
		o := options(1)
		o.Surrogate, o.NoiseFree, o.Acquisition = lost{}, noiseFree, acquisition.LogEI{}
		r := run(t, newStudy(t, box(t), o), branin, 6, 1)
		assert.Equal(t, Design, r.Trials[5].Source)
		assert.Equal(t, []string{"the fit failed, a point of the initial design is suggested: posterior mean is not finite: NaN at trial 5"}, r.Trials[5].Warnings)
		assert.Equal(t, !noiseFree, strings.Contains(fmt.Sprint(r.Warnings), "the best observed trial is recommended"))
	}
}

// uncertain is a posterior, and its model, with NaN as the last variance.
type uncertain struct{ surrogate.Posterior }

func (u uncertain) Predict(mean, variance []float64, x *mat.Dense) {
	u.Posterior.Predict(mean, variance, x)
	variance[len(variance)-1] = math.NaN()
}

func (uncertain) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	p, err := gp.Model{}.Fit(ctx, d, rng)
	return uncertain{p}, err
}

func TestSurrogateWithoutVariance(t *testing.T) {
	o := options(1)
	o.Surrogate, o.Acquisition = uncertain{}, acquisition.LogEI{}
	r := run(t, newStudy(t, box(t), o), branin, 6, 1)
	assert.Equal(t, Design, r.Trials[5].Source)
	assert.Equal(t, []string{"the fit failed, a point of the initial design is suggested: posterior variance is not finite: NaN at trial 5"}, r.Trials[5].Warnings)
}

func TestTellAndFailErrors(t *testing.T) {
	s := newStudy(t, box(t), options(1))
	trials, err := s.Ask(t.Context(), 2)
	require.NoError(t, err)
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e301} {
		assert.ErrorIs(t, s.Tell(1, v), ErrNotFinite)
		_, err := s.Add(trials[0].Point, v)
		assert.ErrorIs(t, err, ErrNotFinite)
	}
	assert.Equal(t, Pending, s.Trials()[0].State)
	for _, id := range []int{-1, 0, 3} {
		assert.ErrorIs(t, s.Tell(id, 1), ErrUnknownTrial)
		assert.ErrorIs(t, s.Fail(id, ""), ErrUnknownTrial)
	}
	require.NoError(t, s.Tell(1, 1))
	require.NoError(t, s.Fail(2, "no"))
	assert.ErrorIs(t, s.Tell(1, 1), ErrFinished)
	assert.ErrorIs(t, s.Fail(1, ""), ErrFinished)
	assert.ErrorIs(t, s.Tell(2, 1), ErrFinished)
	best, ok := s.Best()
	assert.True(t, ok)
	assert.Equal(t, 1, best.ID)
	_, err = s.Ask(t.Context(), 0)
	assert.ErrorIs(t, err, ErrOptions)
	_, err = newStudy(t, box(t), options(1)).Recommend(t.Context())
	assert.ErrorIs(t, err, ErrNoValue)
}

func TestAddAndEnqueue(t *testing.T) {
	sp := box(t)
	s := newStudy(t, sp, options(1))
	at := func(x, y float64) space.Point {
		p, err := sp.PointOf(map[string]any{"x": x, "y": y})
		require.NoError(t, err)
		return p
	}
	for i := range 4 {
		v, _ := branin(t.Context(), at(float64(i), 3))
		_, err := s.Add(at(float64(i), 3), v)
		require.NoError(t, err)
	}
	require.NoError(t, s.Enqueue(at(0, 0), at(1, 1)))
	trials, err := s.Ask(t.Context(), 3)
	require.NoError(t, err)
	assert.Equal(t, at(0, 0).Key(), trials[0].Point.Key())
	assert.Equal(t, at(1, 1).Key(), trials[1].Point.Key())
	assert.Equal(t, []Source{Enqueued, Enqueued, Suggested}, []Source{trials[0].Source, trials[1].Source, trials[2].Source})
	assert.Equal(t, 5, trials[0].ID)

	other := newSpace(t, space.Float("z", 0, 1))
	p, err := other.PointOf(map[string]any{"z": 0.5})
	require.NoError(t, err)
	assert.Error(t, s.Enqueue(p))
	err = s.Enqueue(at(0, 0), p, p)
	assert.ErrorContains(t, err, "point 2 of 3: ")
	assert.ErrorContains(t, err, "point 3 of 3: ")
	assert.ErrorIs(t, err, space.ErrPoint)
	_, err = s.Add(p, 1)
	assert.Error(t, err)

	o := options(1)
	o.NoiseFree = true
	s = newStudy(t, sp, o)
	require.NoError(t, s.Enqueue(at(0, 0), at(0, 0)))
	trials, err = s.Ask(t.Context(), 2)
	require.NoError(t, err)
	assert.Equal(t, Design, trials[1].Source)
}

// A run after Add uses its whole budget for evaluations.
func TestAddedTrialsAreNotInTheBudget(t *testing.T) {
	sp := box(t)
	s := newStudy(t, sp, options(1))
	for i := range 5 {
		p, err := sp.PointOf(map[string]any{"x": float64(i), "y": 2.0})
		require.NoError(t, err)
		_, err = s.Add(p, float64(i))
		require.NoError(t, err)
	}
	r := run(t, s, branin, 3, 1)
	assert.Len(t, r.Trials, 8)
	assert.Equal(t, Suggested, r.Trials[5].Source)
}

func TestHardValues(t *testing.T) {
	for name, f := range map[string]Objective{
		"constant": func(context.Context, space.Point) (float64, error) { return 5, nil },
		"zero":     func(context.Context, space.Point) (float64, error) { return 0, nil },
		"1e12": func(ctx context.Context, p space.Point) (float64, error) {
			v, err := branin(ctx, p)
			return 1e12 * (v - 30), err
		},
		"1e12 offset": func(ctx context.Context, p space.Point) (float64, error) {
			v, err := branin(ctx, p)
			return 1e12 + v, err
		},
		"1e-12": func(ctx context.Context, p space.Point) (float64, error) {
			v, err := branin(ctx, p)
			return 1e-12 * v, err
		},
		"one penalty": func(ctx context.Context, p space.Point) (float64, error) {
			if p.Float("x") < -2 {
				return MaxValue, nil
			}
			return branin(ctx, p)
		},
	} {
		for _, noiseFree := range []bool{false, true} {
			t.Run(fmt.Sprint(name, noiseFree), func(t *testing.T) {
				o := options(1)
				o.NoiseFree = noiseFree
				r := run(t, newStudy(t, box(t), o), f, 9, 1)
				assert.Len(t, r.Trials, 9)
				last := r.Trials[8]
				moments := []float64{r.Recommendation.Model.Mean, r.Recommendation.Model.SD}
				if name == "constant" || name == "zero" {
					require.Equal(t, Design, last.Source)
				} else {
					require.NotNil(t, last.Prediction, "%v", last.Warnings)
					moments = append(moments, last.Prediction.Mean, last.Prediction.SD)
				}
				for _, v := range moments {
					assert.False(t, math.IsNaN(v) || math.IsInf(v, 0), "%v", v)
				}
			})
		}
	}
}

func TestCancelledRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var started atomic.Int64
	slow := func(ctx context.Context, p space.Point) (float64, error) {
		if started.Add(1) <= 3 {
			return branin(ctx, p)
		}
		if started.Load() == 5 {
			cancel()
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}
	s := newStudy(t, box(t), Options{Seed: 1, Initial: 8, Maximizer: quick})
	r, err := s.Run(ctx, slow, 10, 2)
	require.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "3 of 10")
	assert.Equal(t, Complete, r.Best.State)
	assert.Equal(t, r.Best, r.Recommendation.Observed.Trial)
	require.Len(t, r.Trials, 8)
	count := map[State]int{}
	for _, tr := range r.Trials {
		count[tr.State]++
	}
	assert.Equal(t, map[State]int{Complete: 3, Pending: 5}, count)

	// The next run of the study evaluates the interrupted trials first.
	again := run(t, s, branin, 10, 1)
	want := run(t, newStudy(t, box(t), Options{Seed: 1, Initial: 8, Maximizer: quick}), branin, 10, 1)
	assert.Equal(t, outcomes(want.Trials), outcomes(again.Trials))

	_, err = s.Ask(ctx, 1)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = s.Run(ctx, branin, 20, 1)
	assert.ErrorIs(t, err, context.Canceled)
}

// A deadline inside the objective makes a failed trial, not an interrupted one.
func TestDeadlineInsideTheObjective(t *testing.T) {
	r, err := newStudy(t, box(t), options(1)).Run(t.Context(), func(context.Context, space.Point) (float64, error) {
		return 0, context.DeadlineExceeded
	}, 2, 1)
	assert.ErrorIs(t, err, ErrNoValue)
	assert.Equal(t, Failed, r.Trials[1].State)
}

func TestNoObjective(t *testing.T) {
	_, err := Minimize(t.Context(), nil, box(t), options(1))
	assert.ErrorIs(t, err, ErrOptions)
	assert.EqualError(t, err, "loop: invalid options: no objective")
}

// emptyModel returns no posterior.
type emptyModel struct{}

func (emptyModel) Fit(context.Context, surrogate.Dataset, *rand.Rand) (surrogate.Posterior, error) {
	return nil, nil
}

func TestModelWithoutAPosterior(t *testing.T) {
	o := options(1)
	o.Surrogate = emptyModel{}
	o.Budget = o.Initial + 1
	r, err := Minimize(t.Context(), branin, box(t), o)
	assert.ErrorContains(t, err, "the surrogate model loop.emptyModel returned neither a posterior nor an error")
	assert.Len(t, r.Trials, o.Initial, "the design is kept")
}

func TestOneRunAtATime(t *testing.T) {
	s := newStudy(t, box(t), options(1))
	_, err := s.Run(t.Context(), func(ctx context.Context, p space.Point) (float64, error) {
		_, err := s.Run(ctx, branin, 1, 1)
		assert.ErrorIs(t, err, ErrRunning)
		return 1, nil
	}, 1, 1)
	assert.NoError(t, err)
}

func TestEvents(t *testing.T) {
	count := map[EventKind]int{}
	o := options(1)
	o.Batch = 1
	var s *Study
	var improved []int
	o.OnEvent = func(e Event) {
		count[e.Kind]++
		if e.Improved {
			improved = append(improved, e.Trial.ID)
		}
		if e.Kind == FitFinished {
			assert.GreaterOrEqual(t, e.Observations, 4)
		}
		assert.NoError(t, s.Save(&bytes.Buffer{}))
		s.Best()
	}
	s = newStudy(t, box(t), o)
	r := run(t, s, func(ctx context.Context, p space.Point) (float64, error) {
		if p.Float("x") > 5 {
			return 0, errors.New("no")
		}
		return branin(ctx, p)
	}, 7, 3)
	assert.Equal(t, 7, count[TrialAsked])
	assert.Equal(t, 7, count[TrialStarted])
	assert.Equal(t, 7, count[TrialFinished]+count[TrialFailed])
	assert.Positive(t, count[TrialFailed])
	assert.Equal(t, 4, count[FitStarted], "three suggestions and the recommendation")
	assert.Equal(t, 4, count[FitFinished])
	assert.Equal(t, 2, count[Warned], "idle workers and failed evaluations")
	assert.Equal(t, "2 of 3 workers are idle after the initial design: set the batch to 3, or to 0 for no rounds", r.Warnings[0])
	assert.Contains(t, improved, r.Best.ID)
}

// Ask, Tell and Save run in several goroutines; the race detector checks them.
func TestConcurrentUse(t *testing.T) {
	s := newStudy(t, box(t), options(1))
	done := make(chan error)
	for range 4 {
		go func() {
			for range 3 {
				trials, err := s.Ask(t.Context(), 1)
				if err != nil {
					done <- err
					return
				}
				v, _ := branin(t.Context(), trials[0].Point)
				if err := errors.Join(s.Tell(trials[0].ID, v), s.Save(&bytes.Buffer{})); err != nil {
					done <- err
					return
				}
				s.Trials()
				s.Incumbents()
			}
			done <- nil
		}()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
	seen := map[string]bool{}
	for i, tr := range s.Trials() {
		assert.Equal(t, i+1, tr.ID)
		assert.Equal(t, Complete, tr.State)
		seen[tr.Point.Key()] = true
	}
	assert.Len(t, seen, 12)
}

// A lost trial leaves its point without a value. An exact study evaluates it again if every other point has a
// trial, or if it is enqueued.
func TestPointsOfLostTrials(t *testing.T) {
	for _, states := range [][]State{{Lost, Complete, Complete, Complete}, {Complete, Complete, Lost, Failed}, {Complete, Pending, Lost, Lost}, {Lost, Lost, Lost, Lost}} {
		for _, initial := range []int{2, 10} {
			s := newStudy(t, newSpace(t, space.Int("n", 1, 4)), Options{NoiseFree: true, Initial: initial})
			asked, err := s.Ask(t.Context(), 4)
			require.NoError(t, err)
			lost := map[int]bool{}
			for i, state := range states {
				switch state {
				case Complete:
					require.NoError(t, s.Tell(i+1, asked[i].Point.Float("n")))
				case Failed:
					require.NoError(t, s.Fail(i+1, ""))
				case Lost:
					require.NoError(t, s.Lose(i+1, "the machine is gone"))
					lost[asked[i].Point.Int("n")] = true
				}
			}
			again, err := s.Ask(t.Context(), 4)
			require.NoError(t, err)
			found := map[int]bool{}
			for _, trial := range again {
				found[trial.Point.Int("n")] = true
			}
			require.Equal(t, lost, found)
			require.Len(t, again, len(lost))
			_, err = s.Ask(t.Context(), 1)
			require.ErrorIs(t, err, ErrExhausted)
		}
	}
	s := newStudy(t, box(t), Options{NoiseFree: true})
	asked, err := s.Ask(t.Context(), 2)
	require.NoError(t, err)
	require.NoError(t, s.Lose(1, "the machine is gone"))
	require.NoError(t, s.Tell(2, 1))
	require.NoError(t, s.Enqueue(asked[0].Point, asked[1].Point))
	again, err := s.Ask(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, Enqueued, again[0].Source)
	require.Equal(t, asked[0].Point, again[0].Point)
	require.Equal(t, Design, again[1].Source)
}
