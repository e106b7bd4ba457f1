package loop

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/functionspace/bo/internal/racetest"
	"github.com/functionspace/bo/space"
	"github.com/functionspace/bo/surrogate"
	"github.com/functionspace/bo/surrogate/gp"
)

// record appends the proposals to h as pending trials.
func (h *History) record(p Proposals) {
	for _, q := range p.Points {
		h.Trials = append(h.Trials, Trial{ID: len(h.Trials) + 1, Point: q.Point, Source: q.Source, State: Pending, Prediction: q.Prediction, Warnings: q.Warnings})
		if q.Source == Enqueued {
			h.Queue = h.Queue[1:]
		}
	}
	h.Warm = p.Warm
}

// For the same history, Study.Ask and Propose return the same points, and Study.Recommend
// and Recommend the same trials. The history has pending, failed, added and enqueued
// trials, batches, and warm starts that pass through JSON.
func TestProposeIsTheStudysSuggestion(t *testing.T) {
	for name, model := range resumable() {
		for spaceName, sp := range map[string]*space.Space{"box": box(t), "mixed": mixed(t)} {
			t.Run(name+" "+spaceName, func(t *testing.T) {
				o := options(7)
				o.Surrogate, o.NoiseFree, o.Maximize = model, spaceName == "mixed", name == "gp"
				s := newStudy(t, sp, o)
				var h History
				p := sp.Decode(make([]float64, sp.Dim()))
				_, err := s.Add(p, 1)
				require.NoError(t, err)
				h.Trials = append(h.Trials, Trial{ID: 1, Point: p, Source: Added, State: Complete, Value: 1})
				middle := make([]float64, sp.Dim())
				for i := range middle {
					middle[i] = 0.5
				}
				h.Queue = []space.Point{sp.Decode(middle)}
				require.NoError(t, s.Enqueue(h.Queue...))
				for round, size := range []int{2, 2, 1, 3, 1} {
					want, err := s.Ask(t.Context(), size)
					require.NoError(t, err)
					got, err := Propose(t.Context(), sp, o, h, size)
					require.NoError(t, err)
					again, err := Propose(t.Context(), sp, o, h, size)
					require.NoError(t, err)
					require.Equal(t, got, again)
					text, err := json.Marshal(got.Warm)
					require.NoError(t, err)
					got.Warm = nil
					require.NoError(t, json.Unmarshal(text, &got.Warm))
					require.Equal(t, again.Warm, got.Warm)
					h.record(got)
					require.Equal(t, outcomes(want), outcomes(h.Trials[len(h.Trials)-size:]), "round %d", round)
					for i, tr := range want[:(size+1)/2] {
						v, _ := bowl(t.Context(), tr.Point)
						if own := &h.Trials[tr.ID-1]; i == 1 {
							own.State = Failed
							require.NoError(t, s.Fail(tr.ID, ""))
						} else {
							own.State, own.Value = Complete, v
							require.NoError(t, s.Tell(tr.ID, v))
						}
					}
				}
				require.Equal(t, Suggested, h.Trials[len(h.Trials)-1].Source)
				want, err := s.Recommend(t.Context())
				require.NoError(t, err)
				got, err := Recommend(t.Context(), sp, o, h)
				require.NoError(t, err)
				require.Equal(t, want.Model.Mean, got.Model.Mean)
				require.Equal(t, want.Model.SD, got.Model.SD)
				require.Equal(t, want.Model.Trial.ID, got.Model.Trial.ID)
				require.Equal(t, want.Observed.Trial.ID, got.Observed.Trial.ID)
				require.Equal(t, o.NoiseFree, got.Fit == nil)
			})
		}
	}
}

// evaluated returns a history of n evaluated points of a uniform sample.
func evaluated(sp *space.Space, n int) (h History) {
	x := space.Uniform(n, sp.Dim(), rand.New(rand.NewPCG(1, 2)))
	for i := range n {
		p := sp.Decode(x.RawRowView(i))
		v, _ := bowl(context.Background(), p)
		h.Trials = append(h.Trials, Trial{ID: i + 1, Point: p, State: Complete, Value: v})
	}
	return h
}

func TestProposeReportsItsFit(t *testing.T) {
	h := evaluated(box(t), 8)
	h.Trials[2].State = Failed
	h.Trials[3].State = Pending
	h.Trials[4].State = Stopped
	h.Trials[5].State = Lost
	var phases []surrogate.Progress
	ctx := surrogate.WithProgress(t.Context(), func(p surrogate.Progress) { phases = append(phases, p) })
	p, err := Propose(ctx, box(t), options(1), h, 2)
	require.NoError(t, err)
	assert.Equal(t, 6, p.Fit.Observations, "four complete, a failed and a stopped trial")
	assert.NotEmpty(t, p.Fit.Hypers)
	assert.False(t, p.Fit.Warped)
	assert.Equal(t, []surrogate.Progress{{Phase: "surrogate", Total: 1}, {Phase: "surrogate", Done: 1, Total: 1}, {Phase: "acquisition", Total: 2}, {Phase: "acquisition", Done: 1, Total: 2}}, phases)
	assert.NotEmpty(t, p.Warm)
	assert.Equal(t, Pending, h.Trials[3].State)

	// Without a fit the given warm start is returned.
	designed, err := Propose(t.Context(), box(t), options(1), History{Warm: p.Warm}, 2)
	require.NoError(t, err)
	assert.Nil(t, designed.Fit)
	assert.Equal(t, p.Warm, designed.Warm)
}

// All points of a finite space come from the design: the last ones in one pass over the space, not in one
// for each.
func TestDesignOfAFiniteSpace(t *testing.T) {
	const n = 2000
	task, err := newTask(newSpace(t, space.Int("n", 1, n)), Options{NoiseFree: true, Initial: 10}, History{})
	require.NoError(t, err)
	allocations := testing.AllocsPerRun(1, func() {
		seen := map[string]bool{}
		points, err := task.design(t.Context(), n, 1, seen)
		require.NoError(t, err)
		require.Len(t, points, n)
		require.Len(t, seen, n)
	})
	require.Less(t, allocations, 50.0*n)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = task.design(ctx, n, 1, map[string]bool{})
	require.ErrorIs(t, err, context.Canceled)
}

// States of several models are read as they were joined. A damaged state is left out.
func TestWarmStartsOfSeveralModels(t *testing.T) {
	want := []surrogate.State{{1, 2}, nil, {3}}
	require.Equal(t, want, splitWarm(joinWarm(want), 3))
	for _, damaged := range []surrogate.State{{1e300, 0}, {-1e300, 0}, {math.NaN(), 0}, {math.Inf(1), 0}, {2, 0}, {1, 0, 0, 0}} {
		require.Equal(t, make([]surrogate.State, 2), splitWarm(damaged, 2), damaged)
	}
}

// A history may leave out trials: random streams depend on the last ID.
func TestProposeOfAHistoryWithGaps(t *testing.T) {
	h := evaluated(box(t), 7)
	whole, err := Propose(t.Context(), box(t), options(1), h, 1)
	require.NoError(t, err)
	h.Trials = append(h.Trials[:2:2], h.Trials[3:]...)
	left, err := Propose(t.Context(), box(t), options(1), h, 1)
	require.NoError(t, err)
	assert.Equal(t, Suggested, left.Points[0].Source)
	assert.NotEqual(t, whole.Points[0].Point.Key(), left.Points[0].Point.Key())
}

func TestProposeErrors(t *testing.T) {
	sp := box(t)
	good := evaluated(sp, 2)
	other := evaluated(newSpace(t, space.Float("z", 0, 1)), 1)
	change := func(f func(*Trial)) History {
		h := evaluated(sp, 2)
		f(&h.Trials[1])
		return h
	}
	for want, h := range map[string]History{
		"trial 1: its ID is not above the previous ID 1":                           change(func(t *Trial) { t.ID = 1 }),
		"trial 2: loop: no usable number: NaN":                                     change(func(t *Trial) { t.Value = math.NaN() }),
		`trial 2: state is "new", want pending, complete, failed, stopped or lost`: change(func(t *Trial) { t.State = "new" }),
		`trial 2: invalid point: parameter "x": missing`:                           change(func(t *Trial) { t.Point = space.Point{} }),
		`queued point 1: invalid point: parameter "x": missing; parame`:            {Queue: []space.Point{other.Trials[0].Point}},
	} {
		_, err := Propose(t.Context(), sp, options(1), h, 1)
		require.ErrorIs(t, err, ErrHistory, want)
		require.ErrorContains(t, err, want)
		if h.Queue == nil {
			_, err = Recommend(t.Context(), sp, options(1), h)
			require.ErrorIs(t, err, ErrHistory, want)
		}
	}
	_, err := Propose(t.Context(), sp, options(1), good, 0)
	require.ErrorIs(t, err, ErrOptions)
	_, err = Propose(t.Context(), sp, options(1), good, math.MaxInt)
	require.ErrorIs(t, err, ErrOptions)
	_, err = newStudy(t, sp, options(1)).Ask(t.Context(), MaxPoints+1)
	require.ErrorIs(t, err, ErrOptions)
	_, err = Propose(t.Context(), nil, options(1), good, 1)
	require.ErrorIs(t, err, ErrOptions)
	_, err = Propose(t.Context(), sp, Options{Design: "grid"}, good, 1)
	require.ErrorIs(t, err, ErrOptions)
	_, err = Recommend(t.Context(), sp, options(1), History{})
	require.ErrorIs(t, err, ErrNoValue)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Propose(ctx, sp, options(1), good, 1)
	require.ErrorIs(t, err, context.Canceled)
}

// Propose accepts points of another Space with the same parameters.
func TestProposeTakesPointsOfAnEqualSpace(t *testing.T) {
	want, err := Propose(t.Context(), box(t), options(1), evaluated(box(t), 5), 1)
	require.NoError(t, err)
	sp := box(t)
	got, err := Propose(t.Context(), sp, options(1), evaluated(sp, 5), 1)
	require.NoError(t, err)
	assert.Equal(t, want.Points[0].Point.Key(), got.Points[0].Point.Key())
}

func TestFloatsOfFewValues(t *testing.T) {
	racetest.SkipNumerical(t)
	next := math.Nextafter(1, 2)
	tiny := space.Float("x", 1, next)
	for name, c := range map[string]struct {
		params []space.Parameter
		points int
	}{
		"two":              {[]space.Parameter{tiny}, 2},
		"log":              {[]space.Parameter{space.LogFloat("x", 1, next)}, 2},
		"about zero":       {[]space.Parameter{space.Float("x", -5e-324, 5e-324)}, 3},
		"large":            {[]space.Parameter{space.Float("x", 1e15, 1e15+1)}, 9},
		"with a choice":    {[]space.Parameter{tiny, space.Categorical("c", "a", "b", "c")}, 6},
		"two floats":       {[]space.Parameter{tiny, space.Float("y", -next, -1), space.Fixed("k", 1)}, 4},
		"negative, an int": {[]space.Parameter{space.Float("x", -1e15-0.25, -1e15), space.Int("n", 1, 2)}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			sp := newSpace(t, c.params...)
			require.Equal(t, c.points, sp.Count())
			seen := map[string]bool{}
			for i := range c.points {
				seen[sp.At(i).Key()] = true
			}
			require.Len(t, seen, c.points)

			for _, initial := range []int{0, 1, 4} {
				o := options(1)
				o.Initial, o.NoiseFree = initial, true
				s := newStudy(t, sp, o)
				r := run(t, s, bowl, c.points+3, 1)
				require.Len(t, r.Trials, c.points)
				require.Len(t, keys(r.Trials), c.points)
				_, err := s.Ask(t.Context(), 1)
				require.ErrorIs(t, err, ErrExhausted)

				o.NoiseFree = false
				r = run(t, newStudy(t, sp, o), bowl, c.points+3, 1)
				require.Len(t, r.Trials, c.points+3)
			}
		})
	}
}

// meddler changes a study during a fit.
type meddler struct {
	gp.Model
	meddle func()
}

func (m meddler) Fit(ctx context.Context, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	m.meddle()
	return m.Model.Fit(ctx, d, rng)
}

func (m meddler) FitFrom(ctx context.Context, _ surrogate.State, d surrogate.Dataset, rng *rand.Rand) (surrogate.Posterior, error) {
	return m.Fit(ctx, d, rng)
}

// Ask returns another trial in place of one that is told while it runs.
func TestTellDuringAsk(t *testing.T) {
	for _, end := range []string{"tell", "fail"} {
		var s *Study
		o := options(1)
		o.Surrogate = meddler{meddle: func() {
			if s.Trials()[4].State != Pending {
				return
			}
			if end == "tell" {
				require.NoError(t, s.Tell(5, 1))
			} else {
				require.NoError(t, s.Fail(5, ""))
			}
		}}
		s = newStudy(t, box(t), o)
		_, err := s.Ask(t.Context(), 5)
		require.NoError(t, err)
		for id := range 4 {
			require.NoError(t, s.Tell(id+1, float64(id)))
		}
		s.interrupt(5)
		trials, err := s.Ask(t.Context(), 2)
		require.NoError(t, err)
		require.Len(t, trials, 2, end)
		assert.Equal(t, []int{6, 7}, []int{trials[0].ID, trials[1].ID})
	}
}

// Ask returns a trial at whatever moment an interrupted trial is told.
func TestTellAtAnyMomentOfAsk(t *testing.T) {
	for range 500 {
		s := newStudy(t, box(t), options(1))
		_, err := s.Ask(t.Context(), 1)
		require.NoError(t, err)
		s.interrupt(1)
		done := make(chan error)
		go func() { done <- s.Tell(1, 2) }()
		trials, err := s.Ask(t.Context(), 1)
		require.NoError(t, err)
		require.Len(t, trials, 1)
		require.NoError(t, <-done)
	}
}

// A noise-free study evaluates no point twice if points are enqueued or added while Ask
// runs.
func TestNoPointTwice(t *testing.T) {
	sp := newSpace(t, space.Int("n", 1, 3), space.Categorical("c", "a", "b", "c"))
	for name, meddle := range map[string]func(*Study, []space.Point) error{
		"enqueue": func(s *Study, all []space.Point) error { return s.Enqueue(all...) },
		"add": func(s *Study, all []space.Point) error {
			for _, p := range all {
				if _, ok := keys(s.Trials())[p.Key()]; !ok && len(s.Trials()) < 7 {
					if _, err := s.Add(p, 1); err != nil {
						return err
					}
				}
			}
			return nil
		},
		"enqueue, then add": func(s *Study, all []space.Point) error {
			if len(s.Trials()) > 6 {
				return nil
			}
			left := untried(all, s.Trials())
			if err := s.Enqueue(left...); err != nil {
				return err
			}
			_, err := s.Add(left[0], 1)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all []space.Point
			for i := range sp.Count() {
				all = append(all, sp.At(i))
			}
			var s *Study
			o := options(1)
			o.NoiseFree = true
			o.Surrogate = meddler{meddle: func() { require.NoError(t, meddle(s, all)) }}
			s = newStudy(t, sp, o)
			r := run(t, s, bowl, 30, 1)
			assert.Len(t, r.Trials, 9)
			assert.Len(t, keys(r.Trials), 9, fmt.Sprint(r.Trials))
		})
	}
}
